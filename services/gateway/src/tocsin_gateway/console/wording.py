"""How the pages say times, changes and states: plain words, and nothing that hides."""

import json
import re
import unicodedata
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from tocsin_contracts import (
    CheckVerdict,
    Edit,
    EditOp,
    FieldPath,
    Plan,
    Risk,
    RunState,
    Severity,
    Tree,
)
from tocsin_contracts.status import Condition

LONGEST_VALUE = 60
MINUTE = 60
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"

_TONES = {
    RunState.RECEIVED: ("○", "calm"),
    RunState.INVESTIGATING: ("◐", "busy"),
    RunState.VALIDATING: ("◐", "busy"),
    RunState.AWAITING_APPROVAL: ("◆", "warn"),
    RunState.APPLYING: ("◐", "busy"),
    RunState.PR_OPEN: ("⇡", "busy"),
    RunState.PR_MERGED: ("⇡", "busy"),
    RunState.RESOLVED: ("✓", "good"),
    RunState.ESCALATED: ("▲", "bad"),
    RunState.REJECTED: ("✕", "warn"),
    RunState.EXPIRED: ("▲", "warn"),
    RunState.FAILED: ("✕", "bad"),
    Severity.CRITICAL: ("▲", "bad"),
    Severity.WARNING: ("◆", "warn"),
    Severity.INFO: ("●", "busy"),
    Severity.UNKNOWN: ("?", "calm"),
    Risk.LOW: ("●", "good"),
    Risk.MEDIUM: ("◆", "warn"),
    Risk.HIGH: ("▲", "bad"),
    CheckVerdict.PASS: ("✓", "good"),
    CheckVerdict.FAIL: ("✕", "bad"),
    CheckVerdict.UNKNOWN: ("?", "warn"),
    Condition.HEALTHY: ("✓", "good"),
    Condition.DEGRADED: ("▲", "bad"),
    Condition.UNKNOWN: ("?", "warn"),
}


def shown(value: object) -> object:
    """Return a text with a mark for each character that a person would not see."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    if value.isascii() and value.isprintable():
        return value
    return "".join(f"⟨U+{ord(c):04X}⟩" if _hides(c) else c for c in value)


def _hides(character: str) -> bool:
    hidden = unicodedata.category(character) in _HIDDEN and character not in "\n\t"
    return hidden or character in _BLANK


def tone(state: RunState | Severity | Risk | CheckVerdict | Condition) -> tuple[str, str]:
    """Return the sign and the tone of a state; both only stand beside its name."""
    return _TONES.get(state, ("\u2013", "calm"))


def name(value: str) -> str:
    """Return the name of a state as people write it."""
    return str(value).replace("_", " ")


def when(at: datetime | None) -> str:
    """Return a time to the second."""
    return f"{at:%Y-%m-%d %H:%M:%S} {at.tzname()}" if at else "at an unknown time"


def day(at: datetime) -> str:
    """Return the day of a time."""
    return f"{at:%A}, {at.day} {at:%B %Y}"


def clock(at: datetime) -> str:
    """Return the time of a day, to the second."""
    return f"{at:%H:%M:%S}"


def money(amount: Decimal | None) -> str:
    """Return US dollars; what nobody knows is not zero."""
    if amount is None:
        return "unknown"
    return f"${amount:,.4f}" if amount else "$0"


def span(time: timedelta) -> str:
    """Return how long something takes, in its two largest units."""
    seconds = max(0, int(time.total_seconds()))
    units = ((seconds // 86_400, "d"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "min"))
    for (large, unit), (small, smaller) in pairwise(units):
        if large:
            return f"{large} {unit} {small} {smaller}" if small else f"{large} {unit}"
    return f"{seconds // 60} min" if seconds >= MINUTE else f"{seconds} s"


def seconds(number: float) -> str:
    """Return how long so many seconds are, in the two largest units."""
    return span(timedelta(seconds=number))


def link(address: str) -> str:
    """Return an address that a page may link to; empty for any other."""
    return address if re.match(r"https?://[^\s\x00-\x20]+\Z", address) else ""


def change(plan: Plan) -> str:
    """Say what a plan changes, on one line."""
    if not plan.edits:
        return "no field"
    more = len(plan.edits) - 1
    return _edit(plan.edits[0]) + (f" and {more} more" if more else "")


def size(plan: Plan) -> str:
    """Say how large the diff of a plan is."""
    lines = plan.diff.split("\n")
    plus = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    minus = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    count = len(plan.files)
    return f"+{plus} \u2212{minus} in {count} file{'' if count == 1 else 's'}"


def _edit(edit: Edit) -> str:
    field = path(edit.path)
    match edit.op:
        case EditOp.CREATE:
            return f"new file {edit.file}"
        case EditOp.DELETE:
            return f"{field}: {_value(edit.before)} goes"
        case EditOp.INSERT | EditOp.APPEND:
            return f"{field}: new {_value(edit.after)}"
        case _:
            return f"{field}: {_value(edit.before)} → {_value(edit.after)}"


def path(steps: FieldPath) -> str:
    """Write the path of a field as people do; only its end where it is long."""
    tail = 3
    return ("…" if len(steps) > tail else "") + place(steps[-tail:])


def place(steps: FieldPath) -> str:
    """Write the whole path of a field as people do."""
    said = [f"[{step}]" if isinstance(step, int) else step for step in steps]
    return ".".join(said).replace(".[", "[")


def _value(value: Tree) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    said = " ".join(said.split())
    return said if len(said) <= LONGEST_VALUE else said[: LONGEST_VALUE - 1] + "…"
