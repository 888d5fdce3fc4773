"""Alert sources. To add one: write its file, then name it in BUILTIN."""

from tocsin_ingest.ports import AlertSource
from tocsin_ingest.sources.alertmanager import Alertmanager
from tocsin_ingest.sources.chat import Chat
from tocsin_kit.registry import Registry

BUILTIN: tuple[AlertSource, ...] = (Alertmanager(), Chat())


def load() -> Registry[AlertSource]:
    """Return every source that is known."""
    return Registry[AlertSource]("alert sources", BUILTIN)
