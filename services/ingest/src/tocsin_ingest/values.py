"""What senders' words mean: severities, states, times, links."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from urllib.parse import urljoin, urlsplit

from tocsin_contracts import AlertStatus, Severity

SEVERITIES = {
    Severity.CRITICAL: (
        "critical crit page error err high fatal disaster emergency emerg alert major severe "
        "down p1 sev0 sev1 s1 priority1 urgent danger unreachable availability"
    ),
    Severity.WARNING: (
        "warning warn medium moderate average minor degraded p2 p3 sev2 sev3 s2 s3 performance "
        "resourcecontention"
    ),
    Severity.INFO: (
        "info information informational low notice debug trivial verbose p4 p5 sev4 sev5 s4 s5"
    ),
    Severity.NONE: "none ok normal clear cleared resolved up recovery success",
}
"""Every word that says one of ours; what is not here is unknown, never a guess.

A bare number is unknown: where numbers ascend 5 is worst, where they descend it is harmless. What
the numbers of a sender are called, if its documentation says so, stands below.
"""

Scale = Mapping[str, str]
"""What a sender calls its own numbers; the words are those of SEVERITIES."""


def _counted(names: str, first: int = 0) -> Scale:
    words = enumerate(names.split(", "), first)
    return MappingProxyType({str(number): word for number, word in words})


AZURE = _counted("critical, error, warning, informational, verbose")
GRAYLOG = _counted("low, medium, high, critical", first=1)
NAGIOS_HOST = _counted("up, down, unreachable")
NAGIOS_SERVICE = _counted("ok, warning, critical, unknown")
SYSLOG = _counted("emergency, alert, critical, error, warning, notice, informational, debug")
ZABBIX = _counted("not classified, information, warning, average, high, disaster")
SEVS = _counted("sev0, sev1, sev2, sev3")
"""What people count in labels of theirs; of 4 and more nobody knows which way they count."""

NO_SCALE: Scale = MappingProxyType({})

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
_DIGITS = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+]?\d{1,2})?")
_FRACTION = re.compile(r"(\.\d{6})\d+")
_OFFSET = re.compile(r"([+-]\d{2})[.:]?(\d{2})$")
_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII
)
"""How nearly everybody writes a time, with nothing to repair."""

_PLAIN_LINK = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?(?:[/?#][!-~]*)?", re.ASCII)
"""How nearly everybody writes a link."""

_UNFILLED = re.compile(r"\$\w+|\{.*\}|<.*>|\W*|null|none|unknown|n/?a", re.IGNORECASE)
"""What templates leave where nothing is known."""

_LEAP_SECOND = re.compile(r"(:\d{2}):60")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_UNITS = ((17, -3), (14, 0), (11, 3), (8, 6))
"""From which power of ten on a number since 1970 counts how many powers of ten of microseconds."""

_LONGEST_NUMBER = 40
"""Characters of a number that may be a time."""


def severity(given: str, scale: Scale = NO_SCALE) -> Severity:
    """Return what a sender's word for a severity means, or its number on a scale of its own."""
    plain = _NOISE.sub("", worded(given, scale).lower())
    return _WORDS.get(plain, Severity.UNKNOWN)


def worded(given: str, scale: Scale) -> str:
    """Return what a sender calls a number of its scale, also one such as `Sev3`; else the same."""
    plain = given.strip()
    return scale.get(plain.lower().removeprefix("sev"), scale.get(plain, plain))


def status(given: str) -> AlertStatus:
    """Return what a sender's word for a state means; only a known word is a resolve."""
    plain = given.strip().lower()
    return AlertStatus.RESOLVED if plain in _OVER else AlertStatus.FIRING


def moment(given: str | float | None) -> datetime | None:
    """Return a time as aware UTC, cut to microseconds; None where none is said, or a zero time.

    Takes RFC 3339 with any offset and precision, and numbers since 1970 in any unit. A time without
    an offset is read as UTC, and a variable that a template did not fill says none. Raises
    ValueError for what is no time at all.
    """
    text = "" if given is None else str(given).strip()
    if _RFC_3339.fullmatch(text):
        return _written(text)
    if _UNFILLED.fullmatch(text):
        return None
    return _since_1970(text) if _DIGITS.fullmatch(text) else _written(text)


def link(given: str, base: str = "") -> str:
    """Return a link that a person may follow, or nothing: http(s), with a host, nothing hidden."""
    if _PLAIN_LINK.fullmatch(given):
        return given
    try:
        whole = given.strip()
        if base and not whole.startswith(("http://", "https://")):
            whole = urljoin(base, whole)
        parts = urlsplit(whole)
    except ValueError:
        return ""
    usable = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return whole if usable and whole.isascii() and whole.isprintable() and " " not in whole else ""


def links(given: Mapping[str, str | None], base: str = "") -> dict[str, str]:
    """Return the links that may be followed, by their names."""
    usable = ((name, link(target or "", base)) for name, target in given.items() if target)
    return {name: target for name, target in usable if target}


def _since_1970(text: str) -> datetime | None:
    number = Decimal(text[:_LONGEST_NUMBER])
    scale = next((scale for power, scale in _EPOCH_UNITS if number >= 10**power), None)
    if scale is None:
        return None
    try:
        return _of_our_time(_EPOCH + timedelta(microseconds=int(number.scaleb(scale))))
    except OverflowError:
        return None


def _written(text: str) -> datetime | None:
    try:
        read = datetime.fromisoformat(text if _RFC_3339.fullmatch(text) else _repaired(text))
    except ValueError:
        raise ValueError(f"no time: {text[:40]!r}; send RFC 3339 or seconds since 1970") from None
    return _of_our_time(read if read.tzinfo else read.replace(tzinfo=UTC))


def _repaired(text: str) -> str:
    cut = _LEAP_SECOND.sub(r"\1:59", _FRACTION.sub(r"\1", text.upper().removesuffix(" UTC")))
    return _OFFSET.sub(r"\1:\2", cut)


def _of_our_time(at: datetime) -> datetime | None:
    try:
        utc = at.astimezone(UTC)
    except OverflowError:
        return None
    return utc if FIRST_YEAR <= utc.year <= LAST_YEAR else None
