"""Where events meet the validation graph."""

from collections.abc import Sequence

from tocsin_contracts import (
    Alert,
    ChangeProposed,
    EndReason,
    Event,
    FixIneffective,
    Hypothesis,
    HypothesisFormed,
    InvestigationInconclusive,
    PlanDrafted,
    PlanStale,
    ProposalDropped,
    RunId,
)
from tocsin_contracts.amending import AmendmentRequested
from tocsin_gitops import hashing
from tocsin_kit import pulls
from tocsin_kit.clock import Clock
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.graphs import Subgraph
from tocsin_kit.run_view import Run
from tocsin_validation import amending, endings
from tocsin_validation.owning import Owning
from tocsin_validation.ports import Approvals, Reader
from tocsin_validation.state import ValidationState
from tocsin_validation.undoing import Undoing


class Handlers:
    """One method per event that validation consumes; what it returns is published."""

    def __init__(
        self,
        graph: Subgraph[ValidationState],
        undoing: Undoing,
        runs: Reader,
        *,
        approvals: Approvals,
        clock: Clock,
        owning: Owning,
    ) -> None:
        self._graph = graph
        self._undoing = undoing
        self._runs = runs
        self._approvals = approvals
        self._clock = clock
        self._owning = owning

    async def on_hypothesis_formed(self, event: HypothesisFormed) -> Sequence[Event]:
        """Turn a hypothesis into a plan, or say why there is none."""
        return await self._validate(event.run_id, event.id, event.alert, event.hypothesis)

    async def on_plan_stale(self, event: PlanStale) -> Sequence[Event]:
        """Draft anew on the base as it is now: a new plan, with a new approval."""
        if hashing.is_undo(event.issue_key):
            return await self._undone_anew(event)
        told = await self._validate(
            event.run_id, event.id, event.alert, event.hypothesis, replaces=event.plan_hash
        )
        return endings.kept_open(event.run_id, event.hypothesis, told)

    async def on_change_proposed(self, event: ChangeProposed) -> Sequence[Event]:
        """Turn what a comment asked for into a plan, or say why nothing comes of it.

        While the plan of another comment waits for people, this one waits for its turn.
        """
        run = await self._runs.get(event.run_id)
        if run and _another_waits(run, event):
            raise TransientError(f"run {event.run_id!r}: the plan of another comment comes first")
        told = await self._validate(event.run_id, event.id, event.alert, event.hypothesis)
        return endings.kept_open(event.run_id, event.hypothesis, told)

    async def on_amendment_requested(self, event: AmendmentRequested) -> Sequence[Event]:
        """Turn other values for a waiting plan into a new plan, or say why the old one stays.

        Nobody can decide meanwhile, for the run does not wait while this works on it.
        """
        asked = amending.waiting(await self._runs.get(event.run_id))
        approval = await self._approvals.get(event.run_id, asked.plan.plan_hash)
        wanted = amending.wanted(event, asked, approval, self._clock.now())
        if isinstance(wanted, str):
            return [amending.refused(event, wanted)]
        told = await self._validate(
            event.run_id, event.id, asked.alert, wanted, replaces=event.plan_hash
        )
        return amending.outcome(event, asked, told)

    async def on_fix_ineffective(self, event: FixIneffective) -> Sequence[Event]:
        """Propose the exact undo of a fix that did not help, or hand over."""
        return await self._owning.named(await self._undoing.propose(event))

    async def on_inconclusive(self, event: InvestigationInconclusive) -> Sequence[Event]:
        """Hand over to a person, with what was seen: nothing is guessed."""
        seen = [f"{item.kind.value}: {item.query}" for item in event.evidence]
        candidates = [f"candidate: {finding.summary}" for finding in event.candidates]
        return endings.escalated(
            event.run_id, event.alert, EndReason.CAUSE_UNKNOWN, event.why, seen=[*candidates, *seen]
        )

    async def _undone_anew(self, event: PlanStale) -> Sequence[Event]:
        run = await self._runs.get(event.run_id)
        ineffective = run.fact(FixIneffective) if run else None
        if ineffective is None:
            raise PermanentError(f"run {event.run_id!r} has no fix that an undo could be of")
        return await self._owning.named(await self._undoing.propose(ineffective))

    async def _validate(
        self,
        run_id: RunId,
        attempt: str,
        alert: Alert,
        hypothesis: Hypothesis,
        replaces: str = "",
    ) -> Sequence[Event]:
        start: ValidationState = {
            "run_id": run_id,
            "alert": alert,
            "hypothesis": hypothesis,
            "replaces": replaces,
        }
        told = (await self._graph.run(run_id, attempt, start))["answer"]
        return await self._owning.named(told)


def _another_waits(run: Run, event: ChangeProposed) -> bool:
    """Whether another comment led to a plan that is neither written nor dropped."""
    drafted, dropped = run.fact(PlanDrafted), run.fact(ProposalDropped)
    remark = drafted and drafted.hypothesis.remark
    if drafted is None or remark in (None, event.hypothesis.remark):
        return False
    if pulls.behind(run) == drafted:
        return False
    return dropped is None or dropped.at < drafted.at
