"""The steps of triage; each takes the state and returns what changed."""

from collections.abc import Collection

from tocsin_ingest import triage
from tocsin_ingest.state import TriageState


class Nodes:
    """The steps, with the operator's rules."""

    def __init__(self, suppressed_titles: Collection[str]) -> None:
        self._suppressed = suppressed_titles

    async def judge(self, state: TriageState) -> TriageState:
        """Look for a rule that says this alert needs nobody."""
        return {"rule": triage.suppressing_rule(state["alert"], self._suppressed)}

    async def open(self, state: TriageState) -> TriageState:
        """Let the investigation begin."""
        del state
        return {"investigate": True}

    async def suppress(self, state: TriageState) -> TriageState:
        """Let the run end here."""
        del state
        return {"investigate": False}
