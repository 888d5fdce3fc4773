"""What is asked to find a place, what may come of it, and the trace of how it came about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import Clusters
from tocsin_contracts import Alert, EndReason, ObjectRef, Place
from tocsin_gitops.config import GitOps, Repository
from tocsin_validation.resolving.checkouts import Checkouts
from tocsin_validation.resolving.ties import Breaker


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the way: who or what was asked, what matched, and why that settles it or not."""

    asked: str
    matched: str
    why: str = ""

    def __str__(self) -> str:
        """Say it as one line."""
        return f"{self.asked}: {self.matched}" + (f"; {self.why}" if self.why else "")


@dataclass(slots=True)
class Trace:
    """The steps so far, in order."""

    steps: list[Step] = field(default_factory=list)

    def note(self, asked: str, matched: str, why: str = "") -> None:
        """Keep a step."""
        self.steps.append(Step(asked, matched, why))

    @property
    def lines(self) -> tuple[str, ...]:
        """The steps as people read them."""
        return tuple(str(step) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Question:
    """An object of a cluster whose source is looked for among the repositories that may hold it.

    `shown` is the object as the cluster has it; None where it does not, or was not seen.
    """

    alert: Alert
    cluster: str
    object: ObjectRef
    candidates: tuple[Repository, ...]
    shown: Manifest | None = None

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the object."""
        return self.shown.labels if self.shown else {}


@dataclass(frozen=True, slots=True)
class Found:
    """A sure answer: the repository, and where in it if that is known."""

    repository: Repository
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why there is no place; `fixed` when the repository needs no further change."""

    reason: EndReason
    sentence: str
    trace: tuple[str, ...] = ()
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """One question, what it is put to, and what was heard so far."""

    question: Question
    gitops: GitOps
    clusters: Clusters
    checkouts: Checkouts
    trace: Trace = field(default_factory=Trace)
    breaker: Breaker = field(default_factory=Breaker)

    async def one_of(self, names: Sequence[str]) -> int | None:
        """Return which of the tied a model chose; None where a person has to choose."""
        return await self.breaker.one_of(self.question.object, names, self.trace)

    def refuse(self, sentence: str) -> Unresolved:
        """Return the end of the search: what was said is sure, and nothing can be written there."""
        return Unresolved(EndReason.TARGET_UNRESOLVED, sentence, self.trace.lines)
