"""One event through one handler: begin, work, commit, publish. Safe to run twice, in any order."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pydantic import ValidationError

from tocsin_contracts import EndReason, Event, RunFinished, RunId, RunState, derive_id
from tocsin_kit import leases, logging
from tocsin_kit.errors import NotYetError, PermanentError
from tocsin_kit.moves import OPEN, Move
from tocsin_kit.runs import Begin, BeginVerdict, RunStore

E_contra = TypeVar("E_contra", bound=Event, contravariant=True)
Answer = Event | Sequence[Event] | None
Handler = Callable[[E_contra], Awaitable[Answer]]
Publish = Callable[[Event], Awaitable[None]]

EARLY_RETRY = 1.0
BUSY_RETRY = 1.0

log = logging.get(__name__)


class Work:
    """Runs the handlers of one service under the run store's protocol."""

    def __init__(self, service: str, runs: RunStore, publish: Publish, renew_every: float) -> None:
        self._service = service
        self._runs = runs
        self._publish = publish
        self._renew_every = renew_every

    async def handle(self, event: Event, handler: Handler[Event], allowed: Move) -> None:
        """Call the handler once it may work on the run; publish what it concluded.

        Raises TransientError to be called again, PermanentError when that cannot help.
        """
        begin = await self._runs.begin(event, self._service, allowed)
        match begin.verdict:
            case BeginVerdict.GO:
                await self._publish_all(await self._work(begin, event, handler, allowed))
            case BeginVerdict.DONE:
                await self._publish_all(begin.stored)
            case BeginVerdict.STALE:
                log.info("work.stale_event_dropped", topic=event.topic)
            case BeginVerdict.EARLY:
                raise NotYetError("the run has not come this far yet", retry_in=EARLY_RETRY)
            case BeginVerdict.BUSY:
                raise NotYetError("another worker holds the run", retry_in=_patience(begin))
            case BeginVerdict.EXHAUSTED:
                await self._runs.release(begin.lease, counted=True)
                raise PermanentError(f"gave up after repeated failures; the last: {begin.cause}")

    async def fail(self, run_id: RunId, event_id: str, sentence: str) -> None:
        """End a run as `failed`, once, because one of its events cannot be handled.

        It is a step of its own: the event may have been handled, and only its answer be impossible
        to publish. Nothing has to be ended under an id that no run can have.
        """
        try:
            event = RunFinished(
                run_id=run_id,
                id=derive_id(event_id, RunFinished.topic),
                outcome=RunState.FAILED,
                reason=EndReason.HANDLER_FAILED,
                sentence=sentence,
            )
        except ValidationError:
            return
        begin = await self._runs.begin(event, self._service, OPEN)
        if begin.verdict is BeginVerdict.BUSY:
            raise NotYetError("another worker holds the run", retry_in=_patience(begin))
        stored = begin.stored
        if begin.verdict in (BeginVerdict.GO, BeginVerdict.EXHAUSTED):
            ending = event.caused_by(event_id, self._service)
            stored = await self._runs.commit(begin.lease, OPEN, ending, [ending])
        await self._publish_all(stored)

    async def _work(
        self, begin: Begin, event: Event, handler: Handler[Event], allowed: Move
    ) -> tuple[Event, ...]:
        lease = begin.lease
        async with leases.Held(self._runs, lease, self._renew_every, stoppable=allowed.stoppable):
            answer = await handler(event)
        outgoing = _listed(answer)
        caused = [e.caused_by(event.id, self._service, n) for n, e in enumerate(outgoing)]
        return await self._runs.commit(lease, allowed, event, caused)

    async def _publish_all(self, events: Sequence[Event]) -> None:
        for event in events:
            await self._publish(event)


def _patience(begin: Begin) -> float:
    """Seconds until a busy run is worth another look: its worker may finish any moment."""
    return min(begin.wait, BUSY_RETRY) + 0.05


def _listed(answer: Answer) -> list[Event]:
    if answer is None:
        return []
    return [answer] if isinstance(answer, Event) else list(answer)
