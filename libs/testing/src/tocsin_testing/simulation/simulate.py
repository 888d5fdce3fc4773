"""One simulated history: a seed in, what it left behind out."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from unittest.mock import patch

from tocsin_contracts import event as contracts
from tocsin_gitops.forges import PullRequestRequest
from tocsin_gitops.pulls import PullRequest, PullState
from tocsin_testing.chaos.chance import Chance
from tocsin_testing.chaos.checker import RESTING
from tocsin_testing.chaos.history import Card, Committed, History, Pull
from tocsin_testing.gate import FakeGate
from tocsin_testing.repositories import FakeForge, FakeRepositories
from tocsin_testing.simulation import plans, virtual_time
from tocsin_testing.simulation.bus import Stream
from tocsin_testing.simulation.lives import Fate
from tocsin_testing.simulation.people import People
from tocsin_testing.simulation.services import Surroundings, wire
from tocsin_testing.simulation.store import MemoryRuns

FAULTY_SECONDS = 300.0
LOOK_SECONDS = 60.0
WATCHED_SECONDS = 1200.0
LOOKS = 8 * 60
"""How often it is looked whether everything is at rest: for eight hours of virtual time."""

_TRAILER = re.compile(r"^Tocsin-Plan: ([0-9a-f]{64})$", re.MULTILINE)


class LoggedForge(FakeForge):
    """A forge in memory that logs each commit as it is made."""

    def __init__(self, repositories: FakeRepositories, fate: Fate) -> None:
        super().__init__(repositories)
        self.commits: list[Committed] = []
        self._fate = fate
        self._pulls = repositories.opened

    async def open_pull(self, request: PullRequestRequest) -> PullRequest:
        """Open the pull request, or return it if it was opened before."""
        key = request.repository.name, request.head_branch
        before = self._pulls.get(key)
        try:
            return await super().open_pull(request)
        finally:
            after = self._pulls.get(key)
            if after and (before is None or before.commit != after.commit):
                self._keep(request, before.commit if before else "", after.commit)

    def _keep(self, request: PullRequestRequest, old: str, commit: str) -> None:
        named = _TRAILER.search(request.body)
        self.commits.append(
            Committed(
                at=self._fate.now(),
                branch=request.head_branch,
                old=old,
                commit=commit,
                parent=request.parent_sha,
                plan_hash=named.group(1) if named else "",
            )
        )


@dataclass(frozen=True, slots=True)
class Simulated:
    """What came of one seed: its history, and the faults in their order."""

    seed: int
    history: History
    happened: tuple[str, ...] = field(default=())


Bug = Callable[[Surroundings], None]


def simulate(seed: int, bug: Bug = lambda _: None) -> Simulated:
    """Play the history of a seed; `bug` may break anything before it begins."""
    return virtual_time.run(lambda: _play(seed, bug))


async def _play(seed: int, bug: Bug) -> Simulated:
    fate = Fate(Chance(f"faults {seed}"))
    around = _surroundings(fate)
    bug(around)
    wire(around)
    people = People(around, Chance(f"people {seed}"))
    with patch.object(contracts, "datetime", _Clock(fate)):
        people.begin()
        await asyncio.sleep(FAULTY_SECONDS)
        fate.faults = fate.faults.healed()
        await _rest(around, people)
    history = _history(around, people)
    fate.over = True
    return Simulated(seed, history, tuple(fate.happened))


@dataclass(frozen=True, slots=True)
class _Clock:
    """Where events ask what time it is."""

    fate: Fate

    def now(self, zone: tzinfo) -> datetime:
        return self.fate.now().astimezone(zone)


def _surroundings(fate: Fate) -> Surroundings:
    repositories = FakeRepositories()
    repositories.commit(plans.REPO, {plans.FILE: plans.MANIFEST})
    return Surroundings(
        fate=fate,
        stream=Stream(fate),
        runs=MemoryRuns(fate),
        approvals=FakeGate(fate),
        repositories=repositories,
        forge=LoggedForge(repositories, fate),
    )


async def _rest(around: Surroundings, people: People) -> None:
    """Wait until nobody wants anything, give whoever looks now and then time to look, and wait."""
    for _ in range(LOOKS):
        await asyncio.sleep(LOOK_SECONDS)
        if not people.busy:
            break
    await asyncio.sleep(WATCHED_SECONDS)
    for _ in range(LOOKS):
        await asyncio.sleep(LOOK_SECONDS)
        states = [record.state for record in around.runs.records.values()]
        if all(state in RESTING for state in states) and not any(around.stream.waiting.values()):
            return


def _history(around: Surroundings, people: People) -> History:
    forge, opened = around.forge, around.repositories.opened.values()
    return History(
        facts=tuple(around.stream.facts),
        taken=tuple(people.taken),
        said=tuple(people.said),
        commits=tuple(forge.commits) if isinstance(forge, LoggedForge) else (),
        pulls=tuple(
            Pull(one.number, one.head_branch, one.state is PullState.OPEN) for one in opened
        ),
        cards=tuple(Card(run_id, state) for run_id, (_, state) in around.cards.items()),
        waiting={name: count for name, count in around.stream.waiting.items() if count},
        parked=tuple(around.stream.letters),
    )
