"""What is counted of requests: every refusal by its reason, every alert by what became of it."""

from enum import StrEnum
from functools import cache

from tocsin_kit.metrics import Counter

REFUSALS = Counter(
    "tocsin_ingest_refusals_total", "Requests that were refused.", ("source", "reason")
)
ALERTS = Counter("tocsin_ingest_alerts_total", "Alerts that were stored.", ("source", "outcome"))


@cache
def counted(source: str, outcome: str) -> Counter:
    """Return the counter of one source's alerts with one outcome; both are of our own naming."""
    return ALERTS.labels(source, outcome)


UNKNOWN = "unknown"
"""Counted in place of a source that does not exist: strangers choose no names here."""


class Reason(StrEnum):
    """Why a request was refused."""

    STRANGER = "stranger"
    FORBIDDEN = "forbidden"
    NO_SUCH_PATH = "no such path"
    TOO_SLOW = "too slow"
    HUNG_UP = "hung up"
    TOO_BIG = "too big"
    UNKNOWN_CODING = "unknown coding"
    UNDECODABLE = "undecodable"
    NO_ALERT = "no alert"
    TOO_MANY = "too many alerts"
    TOO_OFTEN = "too often"
    BUSY = "busy"
    BUSY_SENDER = "busy sender"
    BUSY_STRANGERS = "busy strangers"
    NOT_STORED = "not stored"
    STREAM_FULL = "stream full"
