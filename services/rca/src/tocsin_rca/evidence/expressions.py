"""What an alerting expression compares with what, to see the value and not only the breach."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

LONGEST = 2000

_SKIPPED = re.compile(
    r"""(?x)
    "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `[^`]*`     # strings, with whatever they hold
    | \#[^\n]*
    """
)
_OPENS, _CLOSES = "([{", ")]}"
_COMPARES = re.compile(r"==|!=|>=|<=|>|<")
_JOINS = re.compile(r"(?i)\b(?:and|or|unless|bool)\b")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Threshold:
    """An expression that holds while `value` compares to a number as `op` says."""

    value: str
    op: str
    limit: float


def expression(link: str) -> str:
    """Return the expression that a page of Prometheus shows; empty for any other link.

    One that is over its length is left out whole: half of it would mean something else.
    """
    try:
        shown = parse_qs(urlsplit(link).query, max_num_fields=20).get("g0.expr", [""])[0].strip()
    except ValueError:
        return ""
    return shown if len(shown) <= LONGEST and shown.isprintable() else ""


def threshold(expression: str) -> Threshold | None:
    """Return what is compared with which number; None if it is not one plain comparison."""
    plain = _outermost(expression)
    if plain is None or _JOINS.search(plain):
        return None
    found = list(_COMPARES.finditer(plain))
    if len(found) != 1:
        return None
    left, right = expression[: found[0].start()].strip(), expression[found[0].end() :].strip()
    if not left or not _NUMBER.fullmatch(right):
        return None
    return Threshold(left, found[0].group(), float(right))


def _outermost(expression: str) -> str | None:
    """Return the text with all that is in brackets or strings made blank; None if unbalanced."""
    plain = _SKIPPED.sub(lambda match: " " * len(match.group()), expression)
    depth, shown = 0, []
    for character in plain:
        depth -= character in _CLOSES
        shown.append(" " if depth or character in _OPENS + _CLOSES else character)
        depth += character in _OPENS
        if depth < 0:
            return None
    return "".join(shown) if depth == 0 else None
