"""Many clusters asked at once: each answer has a name, and silence is never taken for health."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.port import Cluster
from tocsin_contracts import ClusterCap, ClusterContext, KnownCluster
from tocsin_kit.errors import TocsinError

T = TypeVar("T")
AT_ONCE = 8
SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a cluster; `at` is when that was true, None for this moment."""

    version: str
    at: datetime | None = None


async def look_at(cluster: Cluster) -> Look:
    """Look at a cluster through its nodes; its version is what they run, the oldest first."""
    nodes = await cluster.list("Node", "")
    told = {str(node.dig("status", "nodeInfo", "kubeletVersion") or "") for node in nodes}
    return Look(", ".join(sorted(told - {""}, key=_numbers)), cluster.recorded_at)


def _numbers(version: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", version)]


@dataclass(frozen=True, slots=True)
class Member:
    """One cluster, what the operator calls it, and what a model is told about it.

    `look` is how to see whether it is there; by `caps` it cannot be asked for everything.
    """

    name: str
    cluster: Cluster
    instructions: str = ""
    caps: tuple[ClusterCap, ...] = tuple(ClusterCap)
    look: Callable[[Cluster], Awaitable[Look]] = look_at


@dataclass(frozen=True, slots=True)
class Labelled(Generic[T]):
    """What one cluster answered; with a reason in `missing` it did not, and `answer` is None."""

    cluster: str
    answer: T | None
    missing: str = ""


class Fleet:
    """Asks clusters by name, so many at once and each for so many seconds."""

    def __init__(
        self,
        members: Iterable[Member],
        now: Callable[[], datetime],
        *,
        at_once: int = AT_ONCE,
        seconds: float = SECONDS,
    ) -> None:
        self._members: dict[str, Member] = {}
        for member in members:
            if not member.name or member.name in self._members:
                raise ClusterError(f"two clusters are called {member.name!r}, or one is not called")
            self._members[member.name] = member
        self._now = now
        self._at_once = at_once
        self._seconds = seconds

    async def look(self, last: ClusterContext | None = None) -> ClusterContext:
        """Look at every cluster; of one that is away, what the last look saw is kept."""
        seen = {known.name: known for known in (last.clusters if last else ())}
        members = tuple(self._members.values())
        answers = await self._together(members, lambda member: member.look(member.cluster))
        return ClusterContext(clusters=tuple(self._known(a, seen.get(a.cluster)) for a in answers))

    async def ask(
        self,
        targets: Sequence[KnownCluster],
        cap: ClusterCap,
        question: Callable[[Cluster], Awaitable[T]],
    ) -> tuple[Labelled[T], ...]:
        """Return one answer for each target, in their order, whatever becomes of the others."""
        lacking = {target.name: f"it has no {cap}" for target in targets if cap not in target.caps}
        asked = tuple(
            self._members[target.name]
            for target in targets
            if target.name in self._members and target.name not in lacking
        )
        answers = await self._together(asked, lambda member: question(member.cluster))
        found = {answer.cluster: answer for answer in answers}
        return tuple(
            found.get(name) or Labelled(name, None, lacking.get(name, "it is not connected"))
            for name in (target.name for target in targets)
        )

    async def _together(
        self, members: Sequence[Member], question: Callable[[Member], Awaitable[T]]
    ) -> Sequence[Labelled[T]]:
        free = asyncio.Semaphore(self._at_once)

        async def one(member: Member) -> Labelled[T]:
            async with free:
                try:
                    async with asyncio.timeout(self._seconds):
                        return Labelled(member.name, await question(member))
                except TimeoutError:
                    return Labelled(member.name, None, f"no answer within {self._seconds:g} s")
                except TocsinError as error:
                    return Labelled(member.name, None, str(error) or "it did not answer")

        return await asyncio.gather(*map(one, members))

    def _known(self, answer: Labelled[Look], last: KnownCluster | None) -> KnownCluster:
        member = self._members[answer.cluster]
        known = KnownCluster(name=member.name, caps=member.caps, instructions=member.instructions)
        if answer.answer is None:
            seen = {"version": last.version, "looked_at": last.looked_at} if last else {}
            return known.model_copy(update={**seen, "away": answer.missing})
        at = answer.answer.at or self._now()
        return known.model_copy(update={"version": answer.answer.version, "looked_at": at})
