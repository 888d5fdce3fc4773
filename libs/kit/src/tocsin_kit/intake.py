"""The receiver's record: which run an alert belongs to, decided and stored in one step."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from redis.asyncio import Redis

from tocsin_contracts import (
    Alert,
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    AlertStatus,
    Event,
    Incident,
    Novelty,
    RunId,
    derive_id,
)
from tocsin_kit import keys
from tocsin_kit.clock import Clock, SystemClock, from_millis, millis
from tocsin_kit.errors import FullError
from tocsin_kit.outbox import Outbox, Stored
from tocsin_kit.store import Script, translated
from tocsin_kit.tally import rank

CLOCK_SKEW = timedelta(minutes=1)
"""How far the clock of a sender may be ahead of ours."""


OWNER = "ingest"
"""Whose outbox holds the news of deliveries."""

NO_NEWS = "0"
"""The number of the stored news, where there is none."""

REFUSED = "refused"
"""What becomes of an alert that would open a run, where none may be opened: nothing."""


class Outcome(StrEnum):
    """What became of one delivery of an alert."""

    OPENED = "opened"
    ATTACHED = "attached"
    RESOLVED = "resolved"
    IGNORED = "ignored"
    SPOOLED = "spooled"


@dataclass(frozen=True, slots=True)
class Admission:
    """The run an alert belongs to, and the news of it that still has to be published."""

    outcome: Outcome
    run_id: RunId | None
    stored: Stored | None


class Intake:
    """Admits alerts. Raises TransientError when the store does not answer.

    While `may_open` says no, what would open a run is a FullError.
    """

    def __init__(
        self,
        client: Redis,
        outbox: Outbox,
        *,
        ttl_days: float = 30,
        repeat_seconds: float = 60,
        may_open: Callable[[], bool] = lambda: True,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._outbox = outbox
        self._ttl_ms = int(timedelta(days=ttl_days).total_seconds() * 1000)
        self._repeat_ms = int(repeat_seconds * 1000)
        self._may_open = may_open
        self._clock = clock or SystemClock()
        self._admit = Script(client, "intake")
        self._close = Script(client, "intake_close")

    async def admit(self, incident_key: str, alert: Alert) -> Admission:
        """Attach the alert to the open run of its incident, or open one.

        An alert whose run has ended and that does not start later is the same episode: it is
        counted there and opens nothing. A resolved alert never opens a run, nor does an episode
        that is told as firing just after its end. What tells a run nothing new is only counted; of
        changed texts, and of an ended run whose alert still fires, one in so many seconds is told.
        """
        incident_key, alert = await self._placed(incident_key, alert)
        clock = self._clock.now()
        record, now = _record(incident_key), millis(clock)
        start = _ms(known_start(alert, clock))
        end = _ms(min(alert.ends_at, clock) if alert.ends_at else None)
        again = run_id_of(incident_key, alert.fingerprint, now)
        opens = run_id_of(incident_key, alert.fingerprint, int(start)) if start else again
        stored_alert = alert.model_dump_json() + "\n" + incident_key
        ticket, announce = self._outbox.ticket(record[0])
        told: str = await self._admit(
            record,
            [
                *(alert.status, alert.fingerprint, start, end, now, self._ttl_ms, stored_alert),
                *(rank(alert.severity), _digest(alert), alert.title),
                *(opens, again, self._repeat_ms, int(self._may_open())),
            ],
            announce,
        )
        outcome, run_id, count, firing, number, novelty, episodes = told.split("|")
        if outcome == REFUSED:
            self._outbox.drop(ticket)
            raise FullError("no new run: what is left of the stream of facts is for open ones")
        found = RunId(run_id) if run_id else None
        if number == NO_NEWS:
            self._outbox.drop(ticket)
            return Admission(Outcome(outcome), found, None)
        field = f"out:{number}"
        head = f"{outcome} {novelty} {episodes}"
        event = _event(field, [head, run_id, count, firing, now], alert, incident_key)
        return Admission(Outcome(outcome), found, Stored(record[0], field, event, ticket))

    async def tell(self, admission: Admission) -> None:
        """Publish the news of an admission; until then every replica knows that it waits."""
        if admission.stored:
            await self._outbox.send(admission.stored)

    async def close(
        self, incident_key: str, run_id: RunId, reopens_at: datetime | None = None
    ) -> None:
        """Let the next episode of an incident open a new run, and from a time on the same one."""
        reopens = "" if reopens_at is None else millis(reopens_at)
        await self._close(_record(incident_key), [run_id, "", reopens])

    async def reopen(self, incident_key: str, run_id: RunId) -> bool:
        """Let its next delivery open a new run, whenever it began; the ended run is its newest.

        Returns False if a newer run looks after the incident, and changes nothing then.
        """
        now = millis(self._clock.now())
        return bool(await self._close(_record(incident_key), [run_id, "", now]))

    async def disown(self, incident_key: str, run_id: RunId, fingerprint: str) -> bool:
        """Close an incident whose ended run got an alert that began after it.

        Returns whether the alert still fires without a newer run; then admit it again.
        """
        return bool(await self._close(_record(incident_key), [run_id, fingerprint, ""]))

    async def _placed(self, incident_key: str, alert: Alert) -> tuple[str, Alert]:
        """Keep an alert that its sender names in the incident it began in.

        Many senders tell of an end, or of a repeat, without the labels of the start.
        """
        if not alert.keyed or alert.incident is None:
            return incident_key, alert
        key, here = keys.place(alert.fingerprint), alert.incident.model_dump_json()
        async with translated(f"find the incident of alert {alert.fingerprint!r}"):
            if alert.status is AlertStatus.FIRING:
                known = await self._client.set(key, here, nx=True, get=True, px=self._ttl_ms)
            else:
                known = await self._client.get(key)
        began = Incident.model_validate_json(str(known or here))
        return began.key, alert.model_copy(update={"incident": began})


def known_start(alert: Alert, now: datetime) -> datetime | None:
    """Return when an alert began; a start in the future tells nothing, as none at all."""
    begins = alert.starts_at
    return begins if begins and begins <= now + CLOCK_SKEW else None


def run_id_of(incident_key: str, fingerprint: str, start: int) -> RunId:
    """Return the run that an episode opens, by its start in milliseconds."""
    return RunId("r" + derive_id(f"{incident_key}|{fingerprint}|{start}", "run")[:15])


def read(field: str, value: str) -> Event:
    """Rebuild the event that a field of the record stands for."""
    *facts, alert_json, incident_key = value.split("\n", 6)
    return _event(field, facts, Alert.model_validate_json(alert_json), incident_key)


def _event(field: str, facts: Sequence[str | int], alert: Alert, incident_key: str) -> Event:
    """Make the event of a field from what the script stored with the alert.

    The time of the delivery is part of its id: a store that was wiped counts from one again, and
    the bus must not take the new deliveries for the old ones.
    """
    head, run_id, count, firing, at = map(str, facts)
    outcome, novelty, episodes = head.split(" ")
    cause = f"{run_id}:{field}:{at}"
    common: dict[str, Any] = {"run_id": run_id, "at": from_millis(at), "producer": "ingest"}
    match Outcome(outcome):
        case Outcome.OPENED:
            return AlertAccepted(
                **common,
                id=derive_id(cause, AlertAccepted.topic),
                alert=alert,
                incident_key=incident_key,
            )
        case Outcome.ATTACHED:
            return AlertRepeated(
                **common,
                id=derive_id(cause, AlertRepeated.topic),
                alert=alert,
                occurrences=int(count),
                novelty=Novelty(novelty),
                episodes=int(episodes),
            )
        case _:
            return AlertResolved(
                **common,
                id=derive_id(cause, AlertResolved.topic),
                alert=alert,
                still_firing=int(firing),
            )


def _ms(at: datetime | None) -> str:
    """Write a time as the script takes it; what lies before 1970 is none."""
    return str(millis(at)) if at and at.timestamp() > 0 else ""


def _record(incident_key: str) -> list[str]:
    record = keys.incident(incident_key)
    return [record, keys.incident_alerts(record)]


def _digest(alert: Alert) -> str:
    """Tell one text of an alert from another; times and links differ between replicas."""
    text = repr((alert.title, alert.severity, alert.summary, sorted(alert.annotations.items())))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
