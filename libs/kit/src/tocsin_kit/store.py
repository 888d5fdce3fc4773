"""The connection to Redis or Valkey, and Lua scripts as files; the only place that opens one."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tocsin_kit.errors import TransientError
from tocsin_kit.pipelining import ANSWER_SECONDS, Command, Pipeline, Pool

CONNECTIONS = 32
"""Of one client at most; a burst waits for a free one instead of failing."""


def connect(url: str, *, text: bool = True) -> Redis:
    """Return a client that retries a short outage itself; `text` decodes answers to str.

    It waits for an answer without an end: `translated` bounds that. The library's own bound uses
    `asyncio.wait_for`, which on Python 3.11 swallows a cancellation that meets a finished send.
    """
    pool: Pool = Pool.from_url(
        url,
        max_connections=CONNECTIONS,
        decode_responses=text,
        socket_timeout=None,
        socket_connect_timeout=2,
        health_check_interval=15,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 3),
        retry_on_error=[RedisConnectionError, RedisTimeoutError],
    )
    return Redis.from_pool(pool)


@asynccontextmanager
async def translated(doing: str) -> AsyncIterator[None]:
    """Turn the client's errors, and silence, into TransientError: the store may answer later."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            yield
    except (RedisError, TimeoutError) as error:
        raise unanswered(doing, error) from error


def unanswered(doing: str, error: Exception) -> TransientError:
    """Return what to raise for an error of the client; a pipeline bounds its own waits."""
    return TransientError(f"{doing}: the run store did not answer: {error}")


def text_fields(record: Mapping[Any, Any]) -> dict[str, str]:
    """Type a hash read by a text client, whose library types its answers for both kinds."""
    return {str(name): str(value) for name, value in record.items()}


def pipeline(client: Redis) -> Pipeline:
    """Return the pipeline that all users of a client share; it has to come from `connect`."""
    pool = client.connection_pool
    if not isinstance(pool, Pool):
        raise TypeError("only a client that `connect` made has a pipeline")
    return pool.pipeline


class Script:
    """One Lua file, after those it builds on, run atomically on the keys of one slot."""

    def __init__(self, client: Redis, name: str, *after: str) -> None:
        self._name = name
        folder = files("tocsin_kit").joinpath("lua")
        self._source = "".join(
            folder.joinpath(f"{part}.lua").read_text(encoding="utf-8") for part in (*after, name)
        )
        self._digest = hashlib.sha1(self._source.encode(), usedforsecurity=False).hexdigest()
        self._pipeline = pipeline(client)

    async def __call__(
        self, keys: Sequence[str], args: Sequence[str | bytes | int | float], *before: Command
    ) -> Any:
        """Run it, right after the commands `before`; a store that is silent is a TransientError."""
        command = ("EVALSHA", self._digest, len(keys), *keys, *args)
        try:
            answers = await self._answers(*before, command)
        except RedisError as error:
            raise unanswered(f"script {self._name} on {keys[0]!r}", error) from error
        return answers[-1]

    async def _answers(self, *commands: Command) -> list[Any]:
        try:
            return await self._pipeline.ask(*commands)
        except NoScriptError:
            return await self._pipeline.ask(("SCRIPT", "LOAD", self._source), *commands)
