"""What a comment asked for and nobody wants leaves its run where it was: at its pull request."""

from tocsin_action.followed import still_open
from tocsin_action.ports import Reader
from tocsin_contracts import Event, PlanDrafted, ProposalDropped, RunFinished


class Proposals:
    """Knows which plans of runs a comment asked for."""

    def __init__(self, runs: Reader) -> None:
        self._runs = runs

    async def instead(self, told: Event) -> Event:
        """Return what is told; for what ends a run over a proposal, the end of the proposal."""
        if not isinstance(told, RunFinished):
            return told
        run = await self._runs.get(told.run_id)
        drafted = run.fact(PlanDrafted) if run else None
        remark = drafted.hypothesis.remark if drafted else None
        if run is None or remark is None or still_open(run) is None:
            return told
        return ProposalDropped(run_id=told.run_id, remark=remark, why=told.sentence)
