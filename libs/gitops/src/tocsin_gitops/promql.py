"""Divisions in PromQL that match many series with many, and the sums that make them match."""

import re

_NAME = r"[A-Za-z_:][\w:]*"
_SELECTOR = rf"{_NAME}(?:\{{[^{{}}]*\}})?(?:\[[\w:]+\])?"
_VECTOR = rf"(?:{_NAME}\(\s*{_SELECTOR}\s*\)|{_SELECTOR})"
_LABELS = r"\(\s*(?P<labels>[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*\)"
_DIVISION = re.compile(
    rf"\s*(?P<left>{_VECTOR})\s*/\s*on\s*{_LABELS}"
    rf"(?P<group>\s*group_left\s*(?:\([\w\s,]*\))?)?\s*(?P<right>{_VECTOR})"
    r"(?P<rest>\s*(?:[<>]=?|[=!]=)\s*[\d.e+-]+)?\s*"
)
_LONGEST = 2000
_OF_SERIES = frozenset(("rate", "irate", "increase", "delta", "sum_over_time", "avg_over_time"))


def summed(expression: str) -> str | None:
    """Return a division by several series as one by their sum over the labels it matches on.

    Without `group_left` both sides are summed. None for any other expression: only in a division
    of one vector by another does the sum keep what the rule means.
    """
    found = _DIVISION.fullmatch(expression) if len(expression) <= _LONGEST else None
    if found is None or not all(_is_vector(found[side]) for side in ("left", "right")):
        return None
    labels = ", ".join(part.strip() for part in found["labels"].split(","))
    left, right = (f"sum by ({labels}) ({found[side]})" for side in ("left", "right"))
    match = f"/ on ({labels}) group_left ()" if found["group"] else f"/ on ({labels})"
    end = expression[len(expression.rstrip()) :]
    return f"{found['left'] if found['group'] else left} {match} {right}{found['rest'] or ''}{end}"


def _is_vector(operand: str) -> bool:
    function = operand.partition("(")[0] if "(" in operand.partition("{")[0] else ""
    return not function or function in _OF_SERIES
