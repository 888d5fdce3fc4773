"""Whether changes have to wait: asked of who knows the windows, by request and reply."""

from typing import ClassVar

from pydantic import Field

from tocsin_contracts.alert import Alert
from tocsin_contracts.base import Value


class FreezeAsked(Value):
    """Whether a change freeze holds for an alert now."""

    subject: ClassVar[str] = "tocsin-ask.ingest.freeze"

    alert: Alert


class FreezeAnswer(Value):
    """The change freeze that holds."""

    freeze: str = Field(default="", description="Which one, and until when; empty without one.")
