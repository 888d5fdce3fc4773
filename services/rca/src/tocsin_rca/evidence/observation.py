"""One thing that was seen: for people as cleaned text with an id, for analyzers as data."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import Evidence, EvidenceKind, Period
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import clean, line
from tocsin_rca.evidence.shapes import clustered

EXCERPT = 1500
LONGEST_QUERY = 1000
T = TypeVar("T")
D_co = TypeVar("D_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Observation(Generic[D_co]):
    """Evidence, and the structured form of what it shows; None when nothing could be seen."""

    evidence: Evidence
    data: D_co

    @property
    def id(self) -> str:
        """The id that findings point at."""
        return self.evidence.id


@dataclass(frozen=True, slots=True)
class LogText:
    """The log of one container, or of the one that ran before it."""

    pod: str
    container: str
    previous: bool
    text: str


@dataclass(frozen=True, slots=True)
class ServiceView:
    """A Service and the names of the pods that it selects now."""

    manifest: Manifest
    selects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unseen:
    """Why a cluster did not even say what the alert is about: then nothing of it is known."""

    why: str


def observe(
    kind: EvidenceKind,
    *,
    source: str,
    query: str,
    at: datetime,
    text: str,
    data: T,
    ref: str = "",
    window: Period | None = None,
) -> Observation[T]:
    """Make an observation without an id; its excerpt is masked, cleaned and capped.

    Of a log each line is shown once, with how many say the same.
    """
    whole = clean(text, len(text)).text
    told = clustered(whole) if kind is EvidenceKind.LOG else whole
    masked = Redactor().text(told)
    excerpt = clean(masked, EXCERPT)
    evidence = Evidence(
        id="",
        kind=kind,
        source=source,
        query=line(query, LONGEST_QUERY),
        window=window,
        at=at,
        excerpt=excerpt.text,
        ref=line(ref or _ref(data), LONGEST_QUERY),
        truncated=excerpt.truncated or len(told) < len(whole),
        redacted=masked != told,
    )
    return Observation(evidence, data)


def _ref(data: object) -> str:
    return str(data.ref) if isinstance(data, Manifest) else ""


def number(observations: Iterable[Observation[object]]) -> tuple[Observation[object], ...]:
    """Give every observation its id, e1, e2 and so on, in the order they come."""
    return tuple(
        replace(seen, evidence=seen.evidence.model_copy(update={"id": f"e{ordinal}"}))
        for ordinal, seen in enumerate(observations, start=1)
    )
