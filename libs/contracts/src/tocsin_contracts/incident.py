"""What triage decides about a new run."""

from typing import ClassVar

from tocsin_contracts.alert import Alert
from tocsin_contracts.event import Event


class IncidentOpened(Event):
    """The run is worth an investigation."""

    topic: ClassVar[str] = "incident.opened.v1"

    alert: Alert


class AlertSuppressed(Event):
    """A rule of the operator says that this alert needs nobody; the run ends with it."""

    topic: ClassVar[str] = "alert.suppressed.v1"

    alert: Alert
    rule: str
