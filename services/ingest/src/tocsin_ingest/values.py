"""What senders' words mean: severities, states, times, links."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import urljoin, urlsplit

from tocsin_contracts import AlertStatus, Severity

SEVERITIES = {
    Severity.CRITICAL: (
        "critical crit page error err high fatal disaster emergency emerg alert major severe "
        "down p1 sev0 sev1 s1 priority1 urgent danger unreachable"
    ),
    Severity.WARNING: "warning warn medium moderate average minor degraded p2 p3 sev2 sev3 s2 s3",
    Severity.INFO: (
        "info information informational low notice debug trivial verbose p4 p5 sev4 sev5 s4 s5"
    ),
    Severity.NONE: "none ok normal clear cleared resolved up recovery success",
}
"""Every word that says one of ours; what is not here is unknown, never a guess."""

RESOLVED = (
    "resolved resolve ok closed close recovered recovery normal cleared clear inactive up solved "
    "deactivated healthy completed success end ended canceled cancelled"
)
"""Every word for an alert that is over; what is not here is still wrong."""

FIRST_YEAR = 1990
"""Clocks that were never set, and Go's and .NET's zero times, say less than this."""

LAST_YEAR = 2100

_WORDS = {word: ours for ours, words in SEVERITIES.items() for word in words.split()}
_OVER = frozenset(RESOLVED.split())
_NOISE = re.compile(r"[\s_.-]+")
_DIGITS = re.compile(r"[+-]?\d+(?:\.\d+)?$")
_FRACTION = re.compile(r"(\.\d{6})\d+")
_OFFSET = re.compile(r"([+-]\d{2})[.:]?(\d{2})$")
_EPOCH_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (1e8, 1.0))
"""From which size on a number since 1970 counts nano-, micro-, milliseconds, seconds."""


def severity(given: str) -> Severity:
    """Return what a sender's word for a severity means, whatever its case."""
    plain = _NOISE.sub("", given.strip().lower())
    return _WORDS.get(plain, Severity.UNKNOWN)


def status(given: str) -> AlertStatus:
    """Return what a sender's word for a state means; only a known word is a resolve."""
    plain = given.strip().lower()
    return AlertStatus.RESOLVED if plain in _OVER else AlertStatus.FIRING


def moment(given: str | float | None) -> datetime | None:
    """Return a time as aware UTC, cut to microseconds; None where none is said, or a zero time.

    Takes RFC 3339 with any offset and precision, and numbers since 1970 in any unit. A time without
    an offset is read as UTC. Raises ValueError for what is no time at all.
    """
    if given is None or given == "":
        return None
    text = str(given).strip()
    return _since_1970(float(text)) if _DIGITS.match(text) else _written(text)


def link(given: str, base: str = "") -> str:
    """Return a link that a person may follow, or nothing: http(s), with a host, nothing hidden."""
    try:
        whole = urljoin(base, given.strip()) if base else given.strip()
        parts = urlsplit(whole)
    except ValueError:
        return ""
    usable = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return whole if usable and whole.isascii() and whole.isprintable() and " " not in whole else ""


def links(given: Mapping[str, str | None], base: str = "") -> dict[str, str]:
    """Return the links that may be followed, by their names."""
    usable = ((name, link(target or "", base)) for name, target in given.items() if target)
    return {name: target for name, target in usable if target}


def _since_1970(number: float) -> datetime | None:
    for least, unit in _EPOCH_UNITS:
        if number >= least:
            seconds = number / unit
            break
    else:
        return None
    try:
        return _of_our_time(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))
    except OverflowError:
        return None


def _written(text: str) -> datetime | None:
    plain = _OFFSET.sub(r"\1:\2", _FRACTION.sub(r"\1", text.removesuffix(" UTC")))
    try:
        read = datetime.fromisoformat(plain)
    except ValueError:
        raise ValueError(f"no time: {text[:40]!r}; send RFC 3339 or seconds since 1970") from None
    return _of_our_time(read if read.tzinfo else read.replace(tzinfo=UTC))


def _of_our_time(at: datetime) -> datetime | None:
    try:
        utc = at.astimezone(UTC)
    except OverflowError:
        return None
    return utc if FIRST_YEAR <= utc.year <= LAST_YEAR else None
