"""Whether the five fields of a schedule mean anything."""

import re

_FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_NAMES = re.compile(
    r"(?i)^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)"
)
_MACRO = re.compile(r"@(?:yearly|annually|monthly|weekly|daily|midnight|hourly|every \S{1,20})")
_MOST = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}


def fault(schedule: str) -> str:
    """Return what is wrong with a schedule, as the rest of a sentence; empty if nothing is."""
    schedule = re.sub(r"^(?:CRON_)?TZ=\S{1,60}\s{1,4}", "", schedule.strip())
    if _MACRO.fullmatch(schedule):
        return ""
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        return f"has {len(fields)} fields instead of {len(_FIELDS)}"
    for field, (least, most) in zip(fields, _FIELDS, strict=True):
        if wrong := _wrong(field, least, most):
            return wrong
    return _never(fields[2], fields[3])


def _wrong(field: str, least: int, most: int) -> str:
    for part in field.split(","):
        span, slash, step = part.partition("/")
        if slash and (not step.isdigit() or int(step) == 0):
            return f"has no step {step!r}"
        for end in () if span in ("*", "?") else span.split("-"):
            if not _NAMES.match(end) and not (end.isdigit() and least <= int(end) <= most):
                return f"has {end!r}, which is not between {least} and {most}"
    return ""


def _never(day: str, month: str) -> str:
    if day.isdigit() and month.isdigit() and int(day) > _MOST.get(int(month), 31):
        return "names a day that no year has"
    return ""
