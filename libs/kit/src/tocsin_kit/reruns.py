"""Having the alerts of a run that has ended looked at again, by a run of its own."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from tocsin_contracts import Alert, AlertAccepted, AlertRepeated, Event, RunId
from tocsin_contracts.operations import RunRerun
from tocsin_kit.errors import PermanentError
from tocsin_kit.intake import Admission, Outcome
from tocsin_kit.run_view import Run

MOST_ALERTS = 20
"""Alerts of the ended run that the new one is told of; the next deliveries bring the others."""


class NotRerunError(PermanentError):
    """A run whose alerts cannot be looked at again now; it says why."""


class Receiver(Protocol):
    """The receiver's records of incidents."""

    async def reopen(self, incident_key: str, run_id: RunId) -> bool:
        """Let the next delivery open a new run; False if there is a newer one."""

    async def admit(self, incident_key: str, alert: Alert) -> Admission:
        """Attach an alert to the run of its incident, or open one."""

    async def tell(self, admission: Admission) -> None:
        """Publish the news of it."""


class Records(Protocol):
    """The records of runs."""

    async def note(self, run_id: RunId, *facts: Event) -> None:
        """Keep facts."""

    async def follower(self, run_id: RunId) -> RunId | None:
        """Return the newer run of the same incident."""


class Reruns:
    """Begins new runs. TransientError if bus or store do not answer."""

    def __init__(
        self, receiver: Receiver, records: Records, publish: Callable[[Event], Awaitable[None]]
    ) -> None:
        self._receiver = receiver
        self._records = records
        self._publish = publish

    async def begin(self, run: Run, by: str, reason: str = "") -> RunRerun:
        """Open a new run with the alerts of one that has ended, and say in both where it came from.

        Of any number of people who ask at once, one gets a run. NotRerunError for the others, for
        a run that goes on, and where a newer run looks after the alerts already.
        """
        accepted = run.fact(AlertAccepted)
        if not run.state.terminal or accepted is None:
            raise NotRerunError(f"run {run.id} has not ended: it is {run.state.value}")
        key = accepted.incident_key
        if not await self._receiver.reopen(key, run.id):
            raise await self._taken(run.id)
        opened = await self._receiver.admit(key, accepted.alert)
        if opened.outcome is not Outcome.OPENED or opened.run_id is None:
            raise await self._taken(run.id)
        told = RunRerun(run_id=opened.run_id, of=run.id, by=by, reason=reason)
        told = told.caused_by(f"rerun:{run.id}:{opened.run_id}", "gateway")
        await self._records.note(opened.run_id, told)
        await self._records.note(run.id, told)
        await self._publish(told)
        await self._receiver.tell(opened)
        for alert in _others(run, accepted.alert):
            await self._receiver.tell(await self._receiver.admit(key, alert))
        return told

    async def _taken(self, run_id: RunId) -> NotRerunError:
        newer = await self._records.follower(run_id)
        if newer:
            return NotRerunError(f"run {newer} looks after the alerts of run {run_id} already")
        return NotRerunError(
            f"the alert of run {run_id} has just cleared, or is not known any more: if it fires "
            "again it opens a run by itself"
        )


def _others(run: Run, first: Alert) -> list[Alert]:
    repeated = (fact for fact in run.told if isinstance(fact, AlertRepeated))
    told = {fact.alert.fingerprint: fact.alert for fact in repeated}
    return [alert for key, alert in told.items() if key != first.fingerprint][:MOST_ALERTS]
