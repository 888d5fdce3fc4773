"""One question to another service and its answer, over core NATS: nothing of it is stored."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Generic, TypeVar

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from pydantic import BaseModel, ValidationError

from tocsin_kit import logging
from tocsin_kit.bus import Bus
from tocsin_kit.errors import TocsinError

Q = TypeVar("Q", bound=BaseModel)
A = TypeVar("A", bound=BaseModel)
Connect = Callable[[], Awaitable[Client]]
NO_ANSWER = b""

log = logging.get(__name__)


async def ask(
    bus: Bus, subject: str, question: BaseModel, shape: type[A], seconds: float
) -> A | None:
    """Return the answer; None if nobody listens, none came in time, or it is of another shape."""
    try:
        async with asyncio.timeout(seconds):
            client = await bus.broker.connect()
            body = question.model_dump_json().encode()
            said = await client.request(subject, body, timeout=seconds)
        return shape.model_validate_json(said.data) if said.data else None
    except (TimeoutError, NatsError, OSError) as error:
        log.info("ask.unanswered", subject=subject, why=repr(error))
    except ValidationError as error:
        log.warning("ask.unreadable", subject=subject, faults=error.error_count())
    return None


class Answering(Generic[Q, A]):
    """Answers questions of one subject while it is entered, at most `at_once` at a time.

    Of several services of a name one answers. A handler that fails or takes too long gives no
    answer, which whoever asks is told at once.
    """

    def __init__(
        self,
        bus: Bus,
        subject: str,
        shape: type[Q],
        handler: Callable[[Q], Awaitable[A]],
        *,
        seconds: float,
        at_once: int = 1,
    ) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._answers: set[asyncio.Task[None]] = set()
        self._connect: Connect = bus.broker.connect
        self._subject = subject
        self._shape = shape
        self._handler = handler
        self._seconds = seconds
        self._listening: Subscription | None = None

    async def __aenter__(self) -> "Answering[Q, A]":
        """Listen."""
        client = await self._connect()
        self._listening = await client.subscribe(self._subject, self._subject, cb=self._on)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Listen no more; a connection that is gone listens to nothing, and nobody hears more."""
        try:
            if self._listening:
                await self._listening.unsubscribe()
        except (NatsError, OSError) as gone:
            log.info("ask.gone", subject=self._subject, why=repr(gone))
        for answer in self._answers:
            answer.cancel()
        if self._answers:
            await asyncio.wait(self._answers)

    async def _on(self, msg: Msg) -> None:
        """Begin an answer; further questions wait while there are as many as may be."""
        await self._turns.acquire()
        answer = asyncio.create_task(self._respond(msg))
        self._answers.add(answer)
        answer.add_done_callback(self._ended)

    def _ended(self, answer: asyncio.Task[None]) -> None:
        self._answers.discard(answer)
        self._turns.release()

    async def _respond(self, msg: Msg) -> None:
        try:
            await msg.respond(await self._answer(msg.data))
        except (NatsError, OSError) as error:
            log.info("ask.not_told", subject=self._subject, why=repr(error))

    async def _answer(self, body: bytes) -> bytes:
        try:
            question = self._shape.model_validate_json(body)
            async with asyncio.timeout(self._seconds):
                return (await self._handler(question)).model_dump_json().encode()
        except ValidationError as error:
            log.warning("ask.unreadable", subject=self._subject, faults=error.error_count())
        except (TimeoutError, TocsinError) as error:
            log.warning("ask.not_answered", subject=self._subject, why=repr(error))
        return NO_ANSWER
