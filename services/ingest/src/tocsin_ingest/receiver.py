"""Take alerts in: each finds its run or opens one, and the news of it reaches the bus."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from tocsin_contracts import Alert, RunId
from tocsin_ingest import admission
from tocsin_ingest.ports import Intake, Runs
from tocsin_kit.intake import Admission, Outcome


class Receiver:
    """Admits alerts; returns once the bus has stored what follows, or raises TransientError."""

    def __init__(self, intake: Intake, runs: Runs) -> None:
        self._intake = intake
        self._runs = runs

    async def take_all(self, alerts: Sequence[Alert]) -> list[Admission]:
        """Take the alerts of one request, in their order, without waiting for each in turn.

        Raises TransientError if one could not be stored; the request has to be sent again then.
        """
        if len(alerts) == 1:
            return [await self.take(alerts[0])]
        taken = await asyncio.gather(*map(self.take, alerts), return_exceptions=True)
        for failure in taken:
            if isinstance(failure, BaseException):
                raise failure
        return [one for one in taken if isinstance(one, Admission)]

    async def take(self, alert: Alert) -> Admission:
        """Attach one alert to the run of its incident, or open a run."""
        admitted = await self._intake.admit(admission.incident_key(alert), alert)
        if admitted.outcome is Outcome.OPENED and admitted.stored:
            await self._runs.create(admitted.stored.event)
        await self._intake.tell(admitted)
        return admitted

    async def take_again(self, alert: Alert, ended: RunId) -> None:
        """Give an alert a run of its own that was attached to one which had ended before it."""
        key = admission.incident_key(alert)
        if await self._intake.disown(key, ended, alert.fingerprint):
            await self.take(alert)

    async def close(
        self, incident_key: str, run_id: RunId, reopens_at: datetime | None = None
    ) -> None:
        """Let the next episode of an incident open a new run, and from a time on the same one."""
        await self._intake.close(incident_key, run_id, reopens_at)
