"""Commands of many callers share one request to the store: a burst costs few round trips."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import BlockingConnectionPool, Connection
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

ANSWER_SECONDS = 5.0
LINGER_SECONDS = 0.02
"""How long a command that nobody waits for waits for others."""

MOST_COMMANDS = 512
"""Of one request; more would keep its first callers waiting for its last."""

Command = Sequence[str | bytes | int | float]


@dataclass(frozen=True, slots=True)
class _Asked:
    commands: Sequence[Command]
    answered: "asyncio.Future[list[Any]]"


class Pool(BlockingConnectionPool):
    """Connections of one client; one of them is the pipeline that all its callers share."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pipeline = Pipeline(self)

    async def aclose(self) -> None:
        """Let the pipeline finish, then disconnect."""
        await self.pipeline.close()
        await super().aclose()


class Pipeline:
    """Sends what is asked while its last request is under way as the next one, in order."""

    def __init__(self, pool: Pool) -> None:
        self._get: Callable[[], Awaitable[Connection]] = pool.get_connection
        self._connection: Connection | None = None
        self._retry = Retry(ExponentialBackoff(cap=0.5, base=0.05), 3)
        self._asked: deque[_Asked] = deque()
        self._waiting: deque[tuple[float, asyncio.Future[list[Any]]]] = deque()
        self._watch: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self._closed = False

    async def ask(self, *commands: Command) -> list[Any]:
        """Run the commands one after the other with none of others between; return their answers.

        Raises RedisError: the first that one of them met, or why the store did not answer.
        """
        answered = self._put(commands)
        self._bound(answered)
        self._send()
        return await answered

    def tell(self, *commands: Command) -> None:
        """Run the commands soon, without an answer; a store that is away never hears of them."""
        if self._closed:
            return
        self._put(commands).add_done_callback(_seen)
        if self._sending is None and self._lingering is None:
            loop = asyncio.get_running_loop()
            self._lingering = loop.call_later(LINGER_SECONDS, self._send)

    async def close(self) -> None:
        """Send what waits, then take nothing more."""
        self._send()
        self._closed = True
        if self._sending:
            await asyncio.wait([self._sending])
        if self._watch:
            self._watch.cancel()

    def _bound(self, answered: "asyncio.Future[list[Any]]") -> None:
        """Let nobody wait for longer than was promised; one timer watches over all of them."""
        loop = answered.get_loop()
        self._forget_answered()
        self._waiting.append((loop.time() + ANSWER_SECONDS, answered))
        if self._watch is None:
            self._watch = loop.call_later(ANSWER_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._watch, now = None, asyncio.get_running_loop().time()
        while self._waiting and self._waiting[0][0] <= now:
            _, answered = self._waiting.popleft()
            if not answered.done():
                answered.set_exception(_silence())
        self._forget_answered()
        if self._waiting:
            until = self._waiting[0][0]
            self._watch = asyncio.get_running_loop().call_at(until, self._give_up)

    def _forget_answered(self) -> None:
        while self._waiting and self._waiting[0][1].done():
            self._waiting.popleft()

    def _put(self, commands: Sequence[Command]) -> "asyncio.Future[list[Any]]":
        if self._closed:
            raise RedisConnectionError("the client is closed")
        answered: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._asked.append(_Asked(commands, answered))
        return answered

    def _send(self) -> None:
        if self._lingering:
            self._lingering.cancel()
            self._lingering = None
        if self._asked and self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while batch := self._batch():
                await self._round(batch)
        finally:
            self._sending = None

    def _batch(self) -> list[_Asked]:
        """Take what is asked, up to a bound; whoever stopped waiting is left out."""
        batch: list[_Asked] = []
        size = 0
        while self._asked and size < MOST_COMMANDS:
            one = self._asked.popleft()
            if not one.answered.done():
                batch.append(one)
                size += len(one.commands)
        return batch

    async def _round(self, batch: Sequence[_Asked]) -> None:
        commands = [command for one in batch for command in one.commands]
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answers = await self._retry.call_with_retry(
                    lambda: self._exchange(commands), self._disconnect
                )
        except TimeoutError:
            _fail(batch, _silence())
        except (RedisError, OSError) as error:
            _fail(batch, error if isinstance(error, RedisError) else RedisConnectionError(error))
        except BaseException:
            _fail(batch, RedisConnectionError("the request was given up"))
            raise
        else:
            _share_out(batch, answers)

    async def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        if self._connection is None:
            self._connection = await self._get()
        connection = self._connection
        await connection.send_packed_command(
            b"".join(part for one in commands for part in connection.pack_command(*one))
        )
        return [await _answer(connection) for _ in commands]

    async def _disconnect(self, error: Exception) -> None:
        del error
        if self._connection:
            await self._connection.disconnect(nowait=True)


async def _answer(connection: Connection) -> Any:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error


def _share_out(batch: Sequence[_Asked], answers: Sequence[Any]) -> None:
    start = 0
    for one in batch:
        mine = list(answers[start : start + len(one.commands)])
        start += len(one.commands)
        if one.answered.done():
            continue
        if failure := next((each for each in mine if isinstance(each, RedisError)), None):
            one.answered.set_exception(failure)
        else:
            one.answered.set_result(mine)


def _fail(batch: Sequence[_Asked], error: RedisError) -> None:
    for one in batch:
        if not one.answered.done():
            one.answered.set_exception(error)


def _silence() -> RedisError:
    return RedisTimeoutError(f"no answer within {ANSWER_SECONDS:g} s")


def _seen(answered: "asyncio.Future[list[Any]]") -> None:
    """Take note of a failure that nobody waits for."""
    if not answered.cancelled():
        answered.exception()
