"""What kind of trouble an alert tells of, by the words in its title and annotations."""

import re
from enum import Enum

from tocsin_contracts import EvidenceKind
from tocsin_rca.evidence.case import Case

_LONGEST = 2000


class Theme(Enum):
    """Kinds of trouble that words tell of; one alert may tell of several."""

    LATENCY = re.compile(r"(?i)latenc|slow|response ?time|duration|p9\d\b|quantile|\bdelay")
    ERRORS = re.compile(
        r"(?i)error|5xx|\b50[0-4]s?\b|exception|fail(?:ed|ing|ure)? requests?|success ?rate"
        r"|availability|burn ?rate|\bslo\b|unavailable|\bdown\b|unreachable|not responding"
    )
    CRASH = re.compile(
        r"(?i)crash|restart|back-?off|not ?ready|unhealthy|mismatch|stuck|job ?failed"
    )
    STATE = re.compile(
        r"(?i)crash|not ?ready|mismatch|stuck|notscheduled|unavailable|pending|job ?failed"
        r"|not ?completed|rollout|waiting|endpoint|target ?down|degraded|unhealthy"
    )


def tells_of(case: Case, theme: Theme) -> bool:
    """Whether the alert tells of such trouble."""
    return theme.value.search(alert_text(case)) is not None


def alert_text(case: Case) -> str:
    """Return what the alert says, bounded: its title, summary and annotations."""
    alert = case.alert
    words = (alert.title, alert.summary, *alert.annotations.values())
    return " ".join(words)[:_LONGEST]


def alert_ids(case: Case) -> tuple[str, ...]:
    """Return the id of the alert as evidence."""
    found = [one.id for one in case.observations if one.evidence.kind is EvidenceKind.ALERT]
    return tuple(found[:1])
