"""How far a moment lies from the one at which an alert began, in words."""

from datetime import datetime, timedelta

_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_FEW_HOURS = timedelta(hours=10)


def distance(at: datetime, start: datetime | None) -> str:
    """Return such as `12 min before the alert began`; empty if nobody knows when that was."""
    if start is None:
        return ""
    away = abs(at - start)
    if away < _MINUTE:
        return "in the minute the alert began"
    side = "before" if at < start else "after"
    return f"{_long(away)} {side} the alert began"


def _long(away: timedelta) -> str:
    if away < _HOUR:
        return f"{away // _MINUTE} min"
    if away < _FEW_HOURS:
        minutes = away % _HOUR // _MINUTE
        return f"{away // _HOUR} h {minutes} min" if minutes else f"{away // _HOUR} h"
    if away < 2 * _DAY:
        return f"{away // _HOUR} h"
    return f"{away // _DAY} days"
