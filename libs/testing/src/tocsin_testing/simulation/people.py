"""What people and the world do in a simulation: alert, decide, cancel, push, merge and close."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from tocsin_contracts import (
    AlertResolved,
    ApprovalGranted,
    ApprovalRequested,
    Decision,
    Event,
    Plan,
    PullRequestOpened,
    RunCancelRequested,
    RunId,
    RunState,
)
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_gitops.pulls import PullState
from tocsin_kit.approval_told import told
from tocsin_testing import build
from tocsin_testing.chaos.chance import Chance
from tocsin_testing.chaos.history import Said
from tocsin_testing.simulation import plans
from tocsin_testing.simulation.services import APPROVERS, Surroundings

RUNS = 2
OUTBOX_SECONDS = 5.0
HALF_HOUR = 1800.0


@dataclass
class People:
    """Everybody around; what they decided, and the runs that they were promised."""

    around: Surroundings
    chance: Chance
    taken: list[RunId] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def begin(self) -> None:
        """Hear of what is asked, and let the alerts come."""
        self.around.stream.heard.append(self._hear)
        for number in range(1 + int(self.chance.number() * RUNS)):
            run_id = RunId(f"r{number}")
            self._soon(partial(self._alert, run_id), 30.0)
        if self.chance.happens(0.2):
            self._soon(self._push, 60.0)

    @property
    def busy(self) -> bool:
        """Whether anybody is about to do something."""
        return bool(self._tasks)

    def _soon(self, act: Callable[[], Awaitable[None]], latest: float) -> None:
        delay = self.chance.uniform(0.0, latest)

        async def later() -> None:
            await asyncio.sleep(delay)
            await act()

        task = asyncio.create_task(later())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _alert(self, run_id: RunId) -> None:
        """Fire; the answer with 2xx means that the event is stored, and will be published."""
        issue = self.chance.choice(("oom", "oom", "crash"))
        alert = build.alert(fingerprint=issue)
        self.taken.append(run_id)
        accepted = build.alert_accepted(run_id=run_id, alert=alert, id=f"alert-{run_id}")
        self.around.stream.store(accepted.model_copy(update={"at": self.around.fate.now()}))
        if self.chance.happens(0.15):
            self._soon(partial(self._clear, run_id), 200.0)
        if self.chance.happens(0.1):
            self._soon(partial(self._cancel, run_id), 200.0)

    async def _clear(self, run_id: RunId) -> None:
        now, alert = self.around.fate.now(), build.alert()
        cleared = AlertResolved(run_id=run_id, at=now, alert=alert, still_firing=0)
        self.around.stream.store(cleared.caused_by(f"clear-{run_id}", "ingest"))

    async def _cancel(self, run_id: RunId) -> None:
        await self.around.runs.cancel(run_id)
        asked = RunCancelRequested(run_id=run_id, at=self.around.fate.now(), by="ana")
        self.around.stream.store(asked.caused_by(f"cancel-{run_id}", "gateway"))

    async def _push(self) -> None:
        """Somebody changes the very file, so that plans are stale."""
        around = self.around
        around.manifest += b"# looked at\n"
        around.repositories.commit(plans.REPO, {plans.FILE: around.manifest})

    def _hear(self, event: Event) -> None:
        match event:
            case ApprovalRequested() if not self.chance.happens(0.05):
                for by in APPROVERS:
                    self._soon(partial(self._decide, event.plan, event.run_id, by), 60.0)
                if self.chance.happens(0.3):
                    self._soon(partial(self._forge_a_yes, event), 30.0)
            case PullRequestOpened() if self.chance.happens(0.3):
                self._soon(partial(self._end, event.head_branch), HALF_HOUR)

    async def _decide(self, plan: Plan, run_id: RunId, by: str) -> None:
        """Say yes or no once the run waits; of two people who decide at once one is heard."""
        answer = DecisionKind.DENIED if self.chance.happens(0.15) else DecisionKind.GRANTED
        while not await self._is_over(run_id, plan.plan_hash):
            if self.around.runs.records[run_id].state is RunState.AWAITING_APPROVAL:
                await self._say(plan, run_id, by, answer)
            await asyncio.sleep(2.0)

    async def _is_over(self, run_id: RunId, plan_hash: str) -> bool:
        found = await self.around.approvals.get(run_id, plan_hash)
        return found is not None and found.state is not ApprovalState.PENDING

    async def _say(self, plan: Plan, run_id: RunId, by: str, answer: DecisionKind) -> None:
        now, around = self.around.fate.now(), self.around
        self.said.append(Said(now, run_id, plan.plan_hash, answer))
        asked = (run_id, plan.plan_hash)
        taken = await around.approvals.decide(
            run_id=run_id,
            plan_hash=plan.plan_hash,
            surface="gateway",
            answer=answer,
            by=by,
            reason="",
        )
        if taken.refusal is None:
            decision = around.approvals.approvals[asked].decisions[-1]
            if self.chance.happens(0.3):
                await asyncio.sleep(OUTBOX_SECONDS)
            around.stream.store(told(run_id, answer, decision)[0])

    async def _forge_a_yes(self, asked: ApprovalRequested) -> None:
        """Put a yes on the bus that nobody said."""
        decision = Decision(
            approval_id=asked.approval_id,
            plan_hash=asked.plan.plan_hash,
            by="ana",
            surface="gateway",
            decided_at=self.around.fate.now(),
        )
        name = f"forged-{asked.id}"
        self.around.stream.store(ApprovalGranted(id=name, run_id=asked.run_id, decision=decision))

    async def _end(self, branch: str) -> None:
        """Merge the pull request, or close it."""
        around = self.around
        if self.chance.happens(0.5):
            around.repositories.merge(plans.REPO, branch, merged_at=around.fate.now())
            around.manifest = plans.FIXED
        else:
            around.repositories.change(plans.REPO, branch, state=PullState.CLOSED)
