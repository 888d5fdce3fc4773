"""Whose run it is, where it happens and how grave it is: what routes and quiet hours go by."""

from collections.abc import Iterable
from dataclasses import dataclass

from tocsin_contracts import (
    Alert,
    AlertAccepted,
    AlertRepeated,
    ApprovalRequested,
    Event,
    IncidentOpened,
    Severity,
)
from tocsin_kit.run_view import Run
from tocsin_kit.tally import rank


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a run; the severity is the worst that its alerts have had."""

    team: str = ""
    environment: str = ""
    severity: Severity = Severity.UNKNOWN


def standing(event: Event, run: Run | None) -> Standing:
    """Return what is known of the run of an event, from it and from the run's record."""
    opened = event if isinstance(event, IncidentOpened) else run and run.fact(IncidentOpened)
    facts = [event, *([run.fact(kind) for kind in _ALERTING] if run else [])]
    return Standing(
        team=opened.team if opened else _asked(event),
        environment=opened.environment if opened else "",
        severity=max(_severities(facts), key=rank, default=Severity.UNKNOWN),
    )


_ALERTING = (AlertAccepted, IncidentOpened, AlertRepeated)


def _asked(event: Event) -> str:
    return event.team if isinstance(event, ApprovalRequested) else ""


def _severities(facts: Iterable[Event | None]) -> list[Severity]:
    alerts = (getattr(fact, "alert", None) for fact in facts)
    return [alert.severity for alert in alerts if isinstance(alert, Alert)]
