"""The steps from a plan to a pull request; each may run twice without doing anything twice."""

from datetime import timedelta

from langgraph.types import interrupt

from tocsin_action import recheck, waiting
from tocsin_action.asking import Asking
from tocsin_action.freezing import Freezing
from tocsin_action.overriding import stated
from tocsin_action.ports import Approvals, Clock, Source, Timers
from tocsin_action.state import ActionState
from tocsin_action.writing import Mark, Writer
from tocsin_contracts import EndReason, Intent, Plan, PlanStale, RunFinished, RunId, RunState
from tocsin_contracts.views import ApprovalState
from tocsin_gitops import past
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.forges import BranchTaken
from tocsin_gitops.undoing import Step
from tocsin_kit import logging
from tocsin_kit.approvals import Approval

LAG = timedelta(hours=1)
"""How long after the yes a list may still not show what was written."""

log = logging.get(__name__)


class Nodes:
    """The steps, with the outside world they need."""

    def __init__(
        self,
        *,
        gitops: GitOps,
        writer: Writer,
        source: Source,
        approvals: Approvals,
        timers: Timers,
        clock: Clock,
        asking: Asking,
        freezing: Freezing,
    ) -> None:
        self._gitops = gitops
        self._writer = writer
        self._source = source
        self._approvals = approvals
        self._timers = timers
        self._clock = clock
        self._asking = asking
        self._freezing = freezing

    async def gate(self, state: ActionState) -> ActionState:
        """Open the approval and stop until somebody has decided.

        Everything before the interrupt runs again on resume, so all of it may happen twice.
        """
        run_id, plan = RunId(state["run_id"]), state["plan"]
        if not state.get("decided"):
            asking, team, now = self._asking, state.get("team", ""), self._clock.now()
            opened = await self._approvals.open(
                run_id,
                plan.plan_hash,
                asking.first(team, plan, now),
                now + asking.patience,
                asking.quorum(plan.risk, state["hypothesis"]),
                askers=asking.askers(state["alert"], state["hypothesis"]),
                owned=asking.owned(plan),
                breakers=asking.breakers,
            )
            for timer in waiting.timers(opened, asking, team):
                await self._timers.set_timer(timer)
            interrupt({"approval_id": opened.id})
        return {"decided": True}

    async def apply(self, state: ActionState) -> ActionState:
        """Write the approved plan, if it is still exactly what was approved."""
        plan = state["plan"]
        approval = await self._approvals.get(RunId(state["run_id"]), plan.plan_hash)
        if why := _not_approved(state, approval):
            return {"answer": _stale(state, why)}
        repository = self._gitops.repository(plan.target.repo)
        if why := await self._moved(repository, state) or await self._frozen(state, approval):
            return {"answer": _stale(state, why)}
        before = await self._at(repository, plan, plan.parent_sha)
        undone = await past.steps(self._source, repository, plan.base_sha, plan.edits)
        after, why = recheck.rebuilt(plan, before, self._gitops.policy, undone)
        if why := why or await self._not_as_a_whole(repository, plan, undone):
            return {"answer": _stale(state, why)}
        try:
            written = await self._writer.write(repository, stated(plan, approval), after)
        except BranchTaken as taken:
            return {"answer": _taken(state, str(taken))}
        log.info("action.written", url=written.url, commit=written.commit, intent=plan.intent)
        return {"commit": written.commit, "url": written.url}

    async def finish(self, state: ActionState) -> ActionState:
        """See for ourselves that the forge has the pull request before telling anyone."""
        if state.get("answer"):
            return {}
        plan = state["plan"]
        repository = self._gitops.repository(plan.target.repo)
        run_id, mark = RunId(state["run_id"]), Mark(state["commit"], state["url"])
        approval = await self._approvals.get(run_id, plan.plan_hash)
        since = approval.decided_at if approval else None
        waited = since is not None and self._clock.now() - since >= LAG
        seen = await self._writer.seen(run_id, repository, plan, mark, waited=waited)
        return {"answer": seen}

    async def _frozen(self, state: ActionState, approval: Approval | None) -> str:
        return await self._freezing.stops(state["alert"], approval) if approval else ""

    async def _moved(self, repository: Repository, state: ActionState) -> str:
        plan = state["plan"]
        if self._gitops.policy.version != plan.policy_version:
            return "the write policy has changed since the plan was drafted"
        head = await self._source.head(repository)
        paths = [change.path for change in plan.files]
        touched = await self._source.touched_since(repository, plan.base_sha, head, paths)
        if touched:
            return f"{', '.join(touched)} changed since the plan was drafted"
        return await self._writer.not_ours(repository, plan)

    async def _not_as_a_whole(
        self, repository: Repository, plan: Plan, undone: tuple[Step, ...]
    ) -> str:
        """What a commit adds to a branch is judged as what the branch makes of the base, too."""
        if plan.intent is Intent.OPEN:
            return ""
        base = await self._at(repository, plan, plan.base_sha)
        return recheck.forbidden_as_a_whole(plan, base, self._gitops.policy, undone)

    async def _at(self, repository: Repository, plan: Plan, sha: str) -> dict[str, bytes]:
        read = {
            change.path: await self._source.show(repository, sha, change.path)
            for change in plan.files
        }
        return {path: data for path, data in read.items() if data is not None}


def _not_approved(state: ActionState, approval: Approval | None) -> str:
    """The record decides, not the event; a missing record means that nothing was approved."""
    run_id, plan = RunId(state["run_id"]), state["plan"]
    if approval is None:
        return "there is no record of an approval"
    if approval.state is not ApprovalState.GRANTED or approval.plan_hash != plan.plan_hash:
        return f"the approval is {approval.state.value}"
    return recheck.changed_plan(plan, run_id)


def _stale(state: ActionState, why: str) -> PlanStale:
    return PlanStale(
        run_id=RunId(state["run_id"]),
        alert=state["alert"],
        hypothesis=state["hypothesis"],
        plan_hash=state["plan"].plan_hash,
        why=why,
        issue_key=state["plan"].issue_key,
    )


def _taken(state: ActionState, why: str) -> RunFinished:
    return RunFinished(
        run_id=RunId(state["run_id"]),
        outcome=RunState.ESCALATED,
        reason=EndReason.BRANCH_TAKEN,
        sentence=f"Nothing was written: {why}. Look at the branch, then decide by hand.",
    )
