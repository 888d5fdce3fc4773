"""Dead letters, for people: look at them, have their messages given again, or throw them away."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from pydantic import ValidationError
from redis.asyncio import Redis

from tocsin_contracts import BY_TOPIC, Event, RunFinished, derive_id
from tocsin_contracts.operations import (
    NO_RUN,
    DeadLetter,
    DeadLetterDiscarded,
    DeadLetterPage,
    DeadLetterReplayed,
)
from tocsin_kit.bus import Bus
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import PermanentError
from tocsin_kit.letters import Letter, Letters
from tocsin_kit.publishes import SEALED
from tocsin_kit.redaction import Redactor
from tocsin_kit.run_records import Reopening, ReopenVerdict, RunRecords
from tocsin_kit.timers import Timer

TIMER = "tocsin-timer.due."


class UnknownLetterError(PermanentError):
    """There is no letter of this number, or not any more."""


class NotReplayedError(PermanentError):
    """A letter whose message cannot be given again; it says why, and nothing was changed."""


class Parked:
    """The dead letters of every service. TransientError if bus or store do not answer."""

    def __init__(
        self,
        letters: Letters,
        records: RunRecords,
        publish: Callable[[Event], Awaitable[None]],
        ring: Callable[[Timer], Awaitable[None]],
        *,
        producer: str,
        redactor: Redactor | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._letters = letters
        self._records = records
        self._publish = publish
        self._ring = ring
        self._producer = producer
        self._redactor = redactor or Redactor()
        self._clock = clock or SystemClock()

    @classmethod
    def of(cls, bus: Bus, redis: Redis, *, producer: str, ttl_days: float = 30) -> "Parked":
        """Read and write over the connections of a service."""
        letters, records = Letters(bus.broker.connect), RunRecords(redis, ttl_days)
        return cls(letters, records, bus.publish, bus.set_timer, producer=producer)

    async def newest(self, limit: int = 50, before: int = 0) -> DeadLetterPage:
        """Return the newest letters without their bodies, and how many there are.

        Only those with a number below `before`, if it is given.
        """
        every = await self._letters.numbers()
        wanted = [number for number in every if not before or number < before][:limit]
        found = await self._letters.all(wanted)
        shown = tuple(letter.shown(self._redactor, body=False) for letter in found)
        return DeadLetterPage(letters=shown, total=len(every))

    async def get(self, number: int) -> DeadLetter | None:
        """Return a letter with its body, or None."""
        letter = await self._letters.read(number)
        return letter.shown(self._redactor) if letter else None

    async def replay(self, number: int, by: str, reason: str = "") -> DeadLetterReplayed:
        """Have the message given again, to all who read its kind, and the letter removed.

        A run that the letter ended goes on where it was. Doing it twice is doing it once.
        UnknownLetterError, or NotReplayedError with the reason.
        """
        letter, now = await self._known(number), self._clock.now()
        message = _message(letter, now)
        reopening = await self._reopened(letter)
        told = DeadLetterReplayed(
            run_id=letter.run_id,
            at=now,
            number=number,
            by=by,
            reason=reason,
            service=letter.service,
            what=letter.topic,
            why=self._redactor.text(letter.cause),
            reopens=reopening.state if reopening else None,
            run_version=reopening.version if reopening else 0,
        ).caused_by(_name(letter), self._producer)
        await self._tell(told)
        if isinstance(message, Timer):
            await self._ring(message)
        else:
            again = derive_id(_name(letter), message.topic)
            version = max(message.run_version, told.run_version)
            await self._publish(
                message.model_copy(update={"id": again, "cause": told.id, "run_version": version})
            )
        await self._letters.remove(number)
        return told

    async def discard(self, number: int, by: str, reason: str) -> DeadLetterDiscarded:
        """Remove a letter for good. UnknownLetterError if there is none."""
        letter = await self._known(number)
        told = DeadLetterDiscarded(
            run_id=letter.run_id,
            at=self._clock.now(),
            number=number,
            by=by,
            reason=reason,
            service=letter.service,
            what=letter.topic,
            why=self._redactor.text(letter.cause),
        ).caused_by(_name(letter), self._producer)
        await self._tell(told)
        await self._letters.remove(number)
        return told

    async def _known(self, number: int) -> Letter:
        letter = await self._letters.read(number)
        if letter is None:
            raise UnknownLetterError(f"there is no dead letter {number}; it may be handled already")
        return letter

    async def _tell(self, told: DeadLetterReplayed | DeadLetterDiscarded) -> None:
        await self._publish(told)
        if told.run_id != NO_RUN:
            await self._records.note(told.run_id, told)

    async def _reopened(self, letter: Letter) -> Reopening | None:
        """Let the run go on that the letter ended; None if it is open, or not of this kind."""
        if not letter.ends_run or letter.run_id == NO_RUN:
            return None
        if other := await self._records.follower(letter.run_id):
            raise NotReplayedError(f"run {other} looks after the alerts of {letter.run_id} now")
        ending = derive_id(letter.event_id, RunFinished.topic)
        found = await self._records.reopen(letter.run_id, ending, _name(letter))
        match found.verdict:
            case ReopenVerdict.REOPENED:
                return found
            case ReopenVerdict.ENDED:
                where = found.state.value if found.state else "gone"
                raise NotReplayedError(
                    f"run {letter.run_id} is {where}, and not because of this letter: "
                    "nothing leaves an end that somebody decided"
                )
            case ReopenVerdict.LOST:
                raise NotReplayedError(
                    f"nobody knows where run {letter.run_id} was before it failed: begin it anew"
                )
        return None


def _name(letter: Letter) -> str:
    return f"letter:{letter.number}:{letter.event_id}"


def _message(letter: Letter, now: datetime) -> Event | Timer:
    """Return what is to be given again. A timer rings now, as another one."""
    if not letter.whole:
        raise NotReplayedError("only the beginning of the message is kept")
    kind = BY_TOPIC.get(letter.topic)
    try:
        if letter.subject.startswith(TIMER):
            timer = Timer.model_validate_json(letter.body)
            return timer.model_copy(update={"due_at": now})
        if kind is None:
            raise NotReplayedError(f"nobody reads {letter.topic!r} in this version")
        if kind in SEALED:
            raise NotReplayedError(
                f"only action may say {letter.topic!r}: if people have to hear of it, tell them "
                f"yourself, and discard the letter"
            )
        return kind.model_validate_json(letter.body)
    except ValidationError as error:
        raise NotReplayedError(
            f"the message is unreadable, it would be given up again: {error.error_count()} fault(s)"
        ) from None
