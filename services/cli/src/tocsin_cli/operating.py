"""What operators ask of the gateway: dead letters, runs begun anew or taken over, what happens."""

from tocsin_cli.client import Gateway
from tocsin_contracts.operations import (
    DeadLetter,
    DeadLetterDiscarded,
    DeadLetterPage,
    DeadLetterReplayed,
    EscalateView,
    RerunView,
)

LETTERS = "/api/v1/deadletters"


class Operator(Gateway):
    """Operates a deployment over its gateway."""

    async def letters(self, limit: int, before: int = 0) -> DeadLetterPage:
        """Return the newest dead letters, without their messages."""
        query = {"limit": str(limit), "before": str(before)}
        return await self._ask(DeadLetterPage, "GET", LETTERS, params=query)

    async def letter(self, number: int) -> DeadLetter:
        """Return one dead letter with its message."""
        return await self._ask(DeadLetter, "GET", f"{LETTERS}/{number}")

    async def replay(self, number: int, reason: str) -> DeadLetterReplayed:
        """Have the message of a letter given again."""
        said = {"reason": reason}
        return await self._ask(DeadLetterReplayed, "POST", f"{LETTERS}/{number}/replay", json=said)

    async def discard(self, number: int, reason: str) -> DeadLetterDiscarded:
        """Throw a letter away."""
        said = {"reason": reason}
        return await self._ask(
            DeadLetterDiscarded, "POST", f"{LETTERS}/{number}/discard", json=said
        )

    async def rerun(self, run_id: str, reason: str) -> RerunView:
        """Have the alerts of a run that has ended looked at again."""
        path = f"/api/v1/runs/{run_id}/rerun"
        return await self._ask(RerunView, "POST", path, json={"reason": reason})

    async def escalate(self, run_id: str, reason: str) -> EscalateView:
        """Take a run over that nobody has decided about."""
        path = f"/api/v1/runs/{run_id}/escalate"
        return await self._ask(EscalateView, "POST", path, json={"reason": reason})

    async def report(self, run_id: str, form: str) -> str:
        """Return the report of a run in a format."""
        path = f"/api/v1/runs/{run_id}/report"
        return (await self._send("GET", path, params={"format": form})).text
