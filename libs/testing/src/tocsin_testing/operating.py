"""What operators look at, in memory: how everything is, and dead letters."""

from datetime import timedelta
from typing import Any, Protocol

from tocsin_contracts import RunId
from tocsin_contracts.operations import (
    DeadLetter,
    DeadLetterDiscarded,
    DeadLetterPage,
    DeadLetterReplayed,
    EscalateView,
    RerunView,
)
from tocsin_contracts.outcomes import (
    OutcomesTotal,
    OutcomesView,
    Rateable,
    RatingsView,
    RatingView,
    Spread,
)
from tocsin_contracts.status import (
    Condition,
    ConsumerView,
    InstanceView,
    ServiceView,
    StatusView,
    StoreView,
    StreamView,
)
from tocsin_kit.parked import NotReplayedError, UnknownLetterError
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import Outage


def letter(number: int = 1, **changes: Any) -> DeadLetter:
    """Return a dead letter in a form that holds."""
    fields = {
        "number": number,
        "at": NOW,
        "service": "validation",
        "run_id": RUN,
        "topic": "rca.hypothesis-formed.v1",
        "subject": f"tocsin.rca.hypothesis-formed.v1.{RUN}",
        "event_id": "0f5c1e2a",
        "cause": "PermanentError: no repository holds Deployment payments/payments-api",
        "tries": 5,
        "ended_run": True,
        "body": '{"run_id": "r1", "token": "[masked]"}',
    }
    return DeadLetter.model_validate(fields | changes)


def instance(service: str = "rca", **changes: Any) -> InstanceView:
    """Return a process that is well."""
    fields = {
        "service": service,
        "instance": f"{service}-7d9c8f-1",
        "condition": Condition.HEALTHY,
        "version": "0.1.0",
        "started_at": NOW,
        "seen_at": NOW,
        "age_seconds": 2,
        "in_flight": 1,
    }
    return InstanceView.model_validate(fields | changes)


def place(**changes: Any) -> ConsumerView:
    """Return a place of rca in a stream, where something waits."""
    fields = {
        "durable": "rca-incident-opened",
        "service": "rca",
        "stream": "TOCSIN",
        "subject": "tocsin.incident.opened.v1.*",
        "condition": Condition.HEALTHY,
        "lag": 3,
        "ack_pending": 1,
        "redelivered": 0,
    }
    return ConsumerView.model_validate(fields | changes)


def status() -> StatusView:
    """Return how a deployment is of which one service is silent and one has erred."""
    well, ill = Condition.HEALTHY, Condition.DEGRADED
    erred = "TransientError: open a pull request: the forge answers 502"
    action = instance("action", condition=ill, last_error=erred, last_error_at=NOW)
    return StatusView(
        condition=ill,
        at=NOW,
        services=(
            ServiceView(
                service="rca", condition=well, instances=(instance(),), consumers=(place(),)
            ),
            ServiceView(service="action", condition=ill, instances=(action,)),
            ServiceView(service="notifier", condition=Condition.UNKNOWN),
        ),
        streams=(
            StreamView(stream="TOCSIN", condition=well, fill=0.12, messages=4711),
            StreamView(stream="TOCSIN_PARKED", condition=Condition.UNKNOWN),
        ),
        store=StoreView(condition=well, persistence="every write is logged"),
    )


class FakeStatuses(Outage):
    """How everything is, as a test says."""

    def __init__(self, seen: StatusView | None = None) -> None:
        self.seen = seen or status()

    async def look(self) -> StatusView:
        """Return it."""
        self._answer()
        return self.seen


class FakeOperations(Outage):
    """Keeps which runs were begun anew, or taken over, by whom and why."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, str, str]] = []

    async def rerun(self, run_id: str, reason: str, by: str) -> RerunView:
        """Keep it; the new run has the id of the old one and `-again`."""
        self._answer()
        self.told.append(("rerun", run_id, reason, by))
        return RerunView(run_id=f"{run_id}-again", of=run_id, by=by, at=NOW)

    async def escalate(self, run_id: str, reason: str, by: str) -> EscalateView:
        """Keep it."""
        self._answer()
        self.told.append(("escalate", run_id, reason, by))
        return EscalateView(run_id=run_id, by=by, at=NOW)


class Wish(Protocol):
    """What somebody says of a run."""

    about: Rateable
    useful: bool
    text: str


class FakeOutcomes(Outage):
    """What became of one run, and what was said of any."""

    def __init__(self) -> None:
        self.said: dict[str, list[RatingView]] = {}

    async def view(self, days: int) -> OutcomesView:
        """Return the same for every number of days."""
        self._answer()
        one = OutcomesTotal(runs=1, acceptance=1, to_answer=Spread(count=1, median=240, p90=240))
        since = NOW - timedelta(days=days)
        return OutcomesView(days=days, since=since, total=one, sources={"alertmanager": one})

    async def ratings(self, run_id: str) -> RatingsView:
        """Return what was said of a run."""
        return RatingsView(ratings=tuple(self.said.get(run_id, ())))

    async def rate(self, run_id: str, wish: Wish, by: str, surface: str) -> RatingView:
        """Keep it."""
        del surface
        self._answer()
        told = RatingView(
            run_id=run_id, by=by, about=wish.about, useful=wish.useful, text=wish.text, at=NOW
        )
        self.said.setdefault(run_id, []).append(told)
        return told


class FakeLetters(Outage):
    """Dead letters by number; `kept` says why none can be given again, if it says anything."""

    def __init__(self, *letters: DeadLetter) -> None:
        self.letters = {one.number: one for one in letters}
        self.told: list[DeadLetterReplayed | DeadLetterDiscarded] = []
        self.kept = ""

    async def newest(self, limit: int = 50, before: int = 0) -> DeadLetterPage:
        """Return the newest letters without their bodies."""
        self._answer()
        numbers = sorted((n for n in self.letters if not before or n < before), reverse=True)
        shown = [self.letters[n].model_copy(update={"body": ""}) for n in numbers[:limit]]
        return DeadLetterPage(letters=tuple(shown), total=len(self.letters))

    async def get(self, number: int) -> DeadLetter | None:
        """Return a letter, or None."""
        self._answer()
        return self.letters.get(number)

    async def replay(self, number: int, by: str, reason: str = "") -> DeadLetterReplayed:
        """Keep who asked for it, and remove the letter."""
        if self.kept:
            raise NotReplayedError(self.kept)
        told = DeadLetterReplayed(by=by, reason=reason, **self._taken(number))
        self.told.append(told)
        return told

    async def discard(self, number: int, by: str, reason: str) -> DeadLetterDiscarded:
        """Keep who asked for it and why, and remove the letter."""
        told = DeadLetterDiscarded(by=by, reason=reason, **self._taken(number))
        self.told.append(told)
        return told

    def _taken(self, number: int) -> dict[str, Any]:
        self._answer()
        found = self.letters.pop(number, None)
        if found is None:
            raise UnknownLetterError(f"there is no dead letter {number}")
        return {
            "run_id": RunId(found.run_id),
            "number": number,
            "service": found.service,
            "what": found.topic,
            "why": found.cause,
        }
