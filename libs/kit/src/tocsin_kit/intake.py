"""The receiver's record: which run an alert belongs to, decided and stored in one step."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from redis.asyncio import Redis

from tocsin_contracts import (
    Alert,
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    Event,
    RunId,
    derive_id,
)
from tocsin_kit import keys
from tocsin_kit.clock import Clock, SystemClock, from_millis, millis
from tocsin_kit.outbox import Outbox, Stored
from tocsin_kit.store import Script

CLOCK_SKEW = timedelta(minutes=1)
"""How far the clock of a sender may be ahead of ours."""


class Outcome(StrEnum):
    """What became of one delivery of an alert."""

    OPENED = "opened"
    ATTACHED = "attached"
    RESOLVED = "resolved"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Admission:
    """The run an alert belongs to, and the news of it that still has to be published."""

    outcome: Outcome
    run_id: RunId | None
    stored: Stored | None


class Intake:
    """Admits alerts. Raises TransientError when the store does not answer."""

    def __init__(
        self, client: Redis, outbox: Outbox, *, ttl_days: float = 30, clock: Clock | None = None
    ) -> None:
        self._outbox = outbox
        self._ttl_ms = int(timedelta(days=ttl_days).total_seconds() * 1000)
        self._clock = clock or SystemClock()
        self._admit = Script(client, "intake")
        self._close = Script(client, "intake_close")

    async def admit(self, incident_key: str, alert: Alert) -> Admission:
        """Attach the alert to the open run of its incident, or open one.

        An alert whose run has ended and that does not start later is the same episode: it is
        counted there and opens nothing. A resolved alert never opens a run.
        """
        key, now = keys.incident(incident_key), millis(self._clock.now())
        began = known_start(alert, self._clock.now())
        start = millis(began) if began else None
        run_id = run_id_of(incident_key, alert.fingerprint, now if start is None else start)
        again = run_id_of(incident_key, alert.fingerprint, now)
        started = "" if start is None else start
        await self._outbox.announce(key)
        stored_alert = alert.model_dump_json() + "\n" + incident_key
        outcome, found, count, firing, news = await self._admit(
            [key],
            [
                alert.status,
                alert.fingerprint,
                started,
                run_id,
                now,
                self._ttl_ms,
                stored_alert,
                again,
            ],
        )
        if outcome == Outcome.IGNORED:
            return Admission(Outcome.IGNORED, RunId(found) if found else None, None)
        value = "\n".join([outcome, found, str(count), str(firing), str(now), stored_alert])
        field = f"out:{news}"
        return Admission(Outcome(outcome), RunId(found), Stored(key, field, read(field, value)))

    async def tell(self, admission: Admission) -> None:
        """Publish the news of an admission; until then every replica knows that it waits."""
        if admission.stored:
            await self._outbox.send(admission.stored)

    async def close(
        self, incident_key: str, run_id: RunId, reopens_at: datetime | None = None
    ) -> None:
        """Let the next episode of an incident open a new run, and from a time on the same one."""
        reopens = "" if reopens_at is None else millis(reopens_at)
        await self._close([keys.incident(incident_key)], [run_id, "", reopens])

    async def disown(self, incident_key: str, run_id: RunId, fingerprint: str) -> bool:
        """Close an incident whose ended run got an alert that began after it.

        Returns whether the alert still has no newer run; then it has to be admitted again.
        """
        return bool(await self._close([keys.incident(incident_key)], [run_id, fingerprint, ""]))


def known_start(alert: Alert, now: datetime) -> datetime | None:
    """Return when an alert began; a start in the future tells nothing, as none at all."""
    begins = alert.starts_at
    return begins if begins and begins <= now + CLOCK_SKEW else None


def run_id_of(incident_key: str, fingerprint: str, start: int) -> RunId:
    """Return the run that an episode opens, by its start in milliseconds."""
    return RunId("r" + derive_id(f"{incident_key}|{fingerprint}|{start}", "run")[:15])


def read(field: str, value: str) -> Event:
    """Rebuild the event that a field of the record stands for.

    The time of the delivery is part of its id: a store that was wiped counts from one again, and
    the bus must not take the new deliveries for the old ones.
    """
    outcome, run_id, count, firing, at, alert_json, incident_key = value.split("\n", 6)
    alert = Alert.model_validate_json(alert_json)
    common = {"run_id": RunId(run_id), "at": from_millis(at)}
    event: Event
    match Outcome(outcome):
        case Outcome.OPENED:
            event = AlertAccepted(**common, alert=alert, incident_key=incident_key)
        case Outcome.ATTACHED:
            event = AlertRepeated(**common, alert=alert, occurrences=int(count))
        case _:
            event = AlertResolved(**common, alert=alert, still_firing=int(firing))
    return event.caused_by(f"{run_id}:{field}:{at}", "ingest").model_copy(update={"cause": ""})
