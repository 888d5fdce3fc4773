"""Which troubled service a trouble begins at: it changed most, and calls no other such one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tocsin_rca.evidence.series import Series, change_point, deviation, likeness

Calls = Mapping[str, frozenset[str]]
"""Whom each service calls."""

_LAG = 600.0
"""Seconds that an alert may come after what it is about."""

_ALARMING = 3.0
_UNRELATED = 0.3
"""What is left of a change that moves quite unlike the symptom."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A metric of something that is not as it was, and how much it is not."""

    subject: str
    metric: str
    score: float


def suspects(
    series: Iterable[Series], begun: float, symptom: Series | None = None
) -> tuple[Suspect, ...]:
    """Return what changed alarmingly when an alert began, the most alarming first.

    What never changes is dropped; what moves unlike the symptom counts less.
    """
    found = []
    for one in series:
        if one.is_constant:
            continue
        score = deviation(*one.around(change_point(one, begun, _LAG)))
        if symptom and symptom != one:
            score *= _UNRELATED + (1 - _UNRELATED) * likeness(one, symptom)
        if score >= _ALARMING:
            found.append(Suspect(one.subject, one.metric, score))
    return tuple(sorted(found, key=lambda s: (-s.score, s.subject, s.metric)))


def deepest(found: Iterable[Suspect], calls: Calls) -> tuple[Suspect, ...]:
    """Return suspects with those first that call no other suspect, each group in its own order.

    Callers suffer from what they call, at any depth; services that call each other in a circle
    count as callers of each other.
    """
    every = tuple(found)
    troubled = {one.subject for one in every}
    reached = {one: _reached(one, calls) & troubled - {one} for one in troubled}
    return tuple(sorted(every, key=lambda one: bool(reached[one.subject])))


def _reached(start: str, calls: Calls) -> set[str]:
    seen: set[str] = set()
    left = [start]
    while left:
        for callee in calls.get(left.pop(), frozenset()):
            if callee not in seen:
                seen.add(callee)
                left.append(callee)
    return seen
