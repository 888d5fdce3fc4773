"""Where events meet the validation graph."""

from collections.abc import Sequence

from tocsin_contracts import (
    Alert,
    EndReason,
    Event,
    Hypothesis,
    HypothesisFormed,
    InvestigationInconclusive,
    PlanStale,
    RunId,
)
from tocsin_kit.graphs import Subgraph
from tocsin_validation import endings
from tocsin_validation.state import ValidationState


class Handlers:
    """One method per event that validation consumes; what it returns is published."""

    def __init__(self, graph: Subgraph[ValidationState]) -> None:
        self._graph = graph

    async def on_hypothesis_formed(self, event: HypothesisFormed) -> Sequence[Event]:
        """Turn a hypothesis into a plan, or say why there is none."""
        return await self._validate(event.run_id, event.id, event.alert, event.hypothesis)

    async def on_plan_stale(self, event: PlanStale) -> Sequence[Event]:
        """Draft anew on the base as it is now: a new plan, with a new approval."""
        return await self._validate(event.run_id, event.id, event.alert, event.hypothesis)

    async def on_inconclusive(self, event: InvestigationInconclusive) -> Sequence[Event]:
        """Hand over to a person, with what was seen: nothing is guessed."""
        seen = [f"{item.kind.value}: {item.query}" for item in event.evidence]
        candidates = [f"candidate: {finding.summary}" for finding in event.candidates]
        return endings.escalated(
            event.run_id, event.alert, EndReason.CAUSE_UNKNOWN, event.why, seen=[*candidates, *seen]
        )

    async def _validate(
        self, run_id: RunId, attempt: str, alert: Alert, hypothesis: Hypothesis
    ) -> Sequence[Event]:
        start: ValidationState = {"run_id": run_id, "alert": alert, "hypothesis": hypothesis}
        return (await self._graph.run(run_id, attempt, start))["answer"]
