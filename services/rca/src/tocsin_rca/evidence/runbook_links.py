"""Where an alert says that its runbook is."""

import re
from urllib.parse import unquote, urlsplit

from tocsin_contracts import Alert

_SUFFIX = re.compile(r"(?i)\.(?:html?|md|markdown|txt)$")
_NAMES = ("runbook_url", "runbook", "runbookURL", "runbookUrl")


def runbook_links(alert: Alert) -> tuple[str, ...]:
    """Return the addresses, each once; they are as untrusted as the alert."""
    written = (said.get(name, "") for said in (alert.annotations, alert.links) for name in _NAMES)
    return tuple(
        dict.fromkeys(link for link in written if link.startswith(("https://", "http://")))
    )


def last_words(link: str) -> tuple[str, ...]:
    """Return what a link is called by: its last step, and what it points at on that page."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return ()
    last = _SUFFIX.sub("", unquote(parts.path.rstrip("/").rpartition("/")[2]))
    return tuple(filter(None, (unquote(parts.fragment), last)))
