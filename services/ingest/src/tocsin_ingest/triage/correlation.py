"""Whether a new alert and an open run may have one cause: by topology, time and text. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import AwareDatetime, ConfigDict, Field, model_validator

from tocsin_contracts import Alert, Correlation, CorrelationPart, RunId, Value
from tocsin_ingest.triage.matchers import subject

_WORD = re.compile(r"[a-z]{3,}")
_JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
MOST_WORDS = 40
MOST_RELATED = 3


class Mode(StrEnum):
    """What becomes of a run that may belong to another one."""

    OFF = "off"
    SHADOW = "shadow"
    ON = "on"


class CorrelationRules(Value):
    """How much two alerts must have in common."""

    model_config = ConfigDict(extra="forbid")

    mode: Mode = Mode.SHADOW
    minutes: float = Field(default=5, gt=0, description="Between the two, at most.")
    threshold: float = Field(default=0.6, gt=0, le=1)
    topology: float = Field(default=0.5, ge=0, le=1)
    time: float = Field(default=0.3, ge=0, le=1)
    text: float = Field(default=0.2, ge=0, le=1)
    compared: int = Field(default=100, ge=1, le=200, description="Open runs, the newest ones.")
    upstream_labels: tuple[str, ...] = ("upstream", "upstream_service", "destination_service")
    depends_on: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Workloads by name: what each of them cannot do without."
    )

    @model_validator(mode="after")
    def _weighed(self) -> Self:
        if round(self.topology + self.time + self.text, 6) != 1:
            raise ValueError("the weights of topology, time and text must add up to 1")
        return self


class Card(Value):
    """What of a run is compared; small, because many are."""

    run_id: RunId
    at: AwareDatetime
    title: str
    cluster: str = ""
    namespace: str = ""
    workload: str = ""
    node: str = ""
    needs: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def card(run_id: RunId, at: datetime, alert: Alert, rules: CorrelationRules) -> Card:
    """Return the card of a run from the alert that opened it."""
    labels = subject(alert)
    workload = alert.workload.name if alert.workload else ""
    namespace = labels.get("namespace", "")
    named = (labels[name] for name in rules.upstream_labels if labels.get(name))
    mapped = (*rules.depends_on.get(workload, ()), *_qualified(namespace, workload, rules))
    words = _WORD.findall(_JOINTS.sub(" ", f"{alert.title} {alert.summary}").lower())
    return Card(
        run_id=run_id,
        at=at,
        title=alert.title,
        cluster=labels.get("cluster", ""),
        namespace=namespace,
        workload=workload,
        node=labels.get("node", ""),
        needs=tuple(sorted({*named, *mapped})),
        words=tuple(sorted(set(words))[:MOST_WORDS]),
    )


def related(new: Card, others: Iterable[Card], rules: CorrelationRules) -> list[Correlation]:
    """Return the older runs that a new one may belong to, the likeliest first, and only a few."""
    compared = [_compared(new, old, rules) for old in others if _order(old) < _order(new)]
    found = [one for one in compared if one and one.score >= rules.threshold]
    likeliest = sorted(found, key=lambda one: (-one.score, one.old.run_id))[:MOST_RELATED]
    return [_explained(one, rules) for one in likeliest]


def said(found: Correlation) -> str:
    """Say what two runs have in common."""
    why = ", ".join(part.why for part in found.parts if part.score)
    return f"run {found.into} may have the same cause ({found.score:.2f}): {why}"


def _order(one: Card) -> tuple[datetime, str]:
    return one.at, one.run_id


def _qualified(namespace: str, workload: str, rules: CorrelationRules) -> tuple[str, ...]:
    return rules.depends_on.get(f"{namespace}/{workload}", ()) if workload else ()


@dataclass(frozen=True, slots=True)
class _Comparison:
    """How near two runs are in topology, time and text."""

    old: Card
    near: float
    how: str
    seconds: float
    soon: float
    alike: float
    score: float


def _compared(new: Card, old: Card, rules: CorrelationRules) -> _Comparison | None:
    near, how = _topology(new, old)
    if not near:
        return None
    seconds = (new.at - old.at).total_seconds()
    soon = max(0.0, 1 - seconds / (rules.minutes * 60))
    alike = _alike(frozenset(new.words), frozenset(old.words))
    score = near * rules.topology + soon * rules.time + alike * rules.text
    return _Comparison(old, near, how, seconds, soon, alike, min(1.0, score))


def _explained(one: _Comparison, rules: CorrelationRules) -> Correlation:
    apart, shared = f"{one.seconds:.0f} s apart", f"{one.alike:.0%} of the words shared"
    parts = (
        CorrelationPart(name="topology", score=one.near, weight=rules.topology, why=one.how),
        CorrelationPart(name="time", score=one.soon, weight=rules.time, why=apart),
        CorrelationPart(name="text", score=one.alike, weight=rules.text, why=shared),
    )
    return Correlation(into=one.old.run_id, score=one.score, threshold=rules.threshold, parts=parts)


def _topology(new: Card, old: Card) -> tuple[float, str]:
    if new.cluster and old.cluster and new.cluster != old.cluster:
        return 0.0, "another cluster"
    return next(_ties(new, old), (0.0, "nothing in common"))


def _ties(new: Card, old: Card) -> Iterator[tuple[float, str]]:
    same_place = new.namespace == old.namespace
    if new.workload and new.workload == old.workload and same_place:
        yield 1.0, f"both are about {_name(new)}"
    if needed := _needs(new, old) or _needs(old, new):
        yield 0.9, needed
    if new.node and new.node == old.node:
        yield 0.8, f"both on node {new.node}"
    if new.namespace and same_place:
        yield 0.5, f"both in namespace {new.namespace}"


def _needs(one: Card, other: Card) -> str:
    names = {other.workload, _name(other)} - {""}
    return f"{_name(one)} needs {_name(other)}" if names & set(one.needs) else ""


def _name(one: Card) -> str:
    if not one.workload:
        return one.title
    return f"{one.namespace}/{one.workload}" if one.namespace else one.workload


def _alike(new: frozenset[str], old: frozenset[str]) -> float:
    return len(new & old) / len(new | old) if new and old else 0.0
