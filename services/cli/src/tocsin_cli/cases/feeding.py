"""Send the alerts of recorded failures to a running Tocsin, and wait for what becomes of them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tocsin_cli.cases import outcomes
from tocsin_cli.cases.outcomes import Outcome
from tocsin_cli.cases.staging import Staged
from tocsin_cli.client import Ingest
from tocsin_cli.settings import Access
from tocsin_cli.workspace import Tokens, Up
from tocsin_contracts import RunId
from tocsin_kit.run_view import Run, RunReader
from tocsin_kit.store import connect

AT_ONCE = 3
SECONDS = 120.0
"""That one run may take; then it counts as one that a person has to look at."""

_POLL_SECONDS = 0.05


class Feeder:
    """Feeds one case after another, a few at once."""

    def __init__(self, ingest: Ingest, runs: RunReader) -> None:
        self._ingest = ingest
        self._runs = runs
        self._places = asyncio.Semaphore(AT_ONCE)

    async def outcomes(self, staged: Sequence[Staged]) -> tuple[Outcome, ...]:
        """Return the outcome of every case, in their order."""
        return tuple(await asyncio.gather(*(self._one(one) for one in staged)))

    async def _one(self, staged: Staged) -> Outcome:
        async with self._places:
            receipt = await self._ingest.alertmanager(staged.payload())
            if not receipt.run_id:
                return outcomes.ignored(staged.case)
            run = await self._settled(RunId(receipt.run_id))
            return outcomes.of_run(staged.case, run) if run else outcomes.unknown(staged.case)

    async def _settled(self, run_id: RunId) -> Run | None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                while True:
                    run = await self._runs.get(run_id)
                    if run and outcomes.is_settled(run):
                        return run
                    await asyncio.sleep(_POLL_SECONDS)
        return None


@asynccontextmanager
async def feeder(up: Up, tokens: Tokens) -> AsyncIterator[Feeder]:
    """Connect to a running Tocsin."""
    async with (
        Ingest(Access(up.ingest_url, tokens.ingest_token)) as ingest,
        connect(up.redis_url) as store,
    ):
        yield Feeder(ingest, RunReader(store))
