"""The connection to Redis or Valkey, and Lua scripts as files; the only place that opens one."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tocsin_kit.errors import TransientError

ANSWER_SECONDS = 5.0
CONNECTIONS = 32
"""Of one client at most; a burst waits for a free one instead of failing."""


def connect(url: str, *, text: bool = True) -> Redis:
    """Return a client that retries a short outage itself; `text` decodes answers to str.

    It waits for an answer without an end: `translated` bounds that. The library's own bound uses
    `asyncio.wait_for`, which on Python 3.11 swallows a cancellation that meets a finished send.
    """
    pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
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
        raise TransientError(f"{doing}: the run store did not answer: {error}") from error


def text_fields(record: Mapping[Any, Any]) -> dict[str, str]:
    """Type a hash read by a text client, whose library types its answers for both kinds."""
    return {str(name): str(value) for name, value in record.items()}


class Script:
    """One Lua file, run atomically on the keys of one slot."""

    def __init__(self, client: Redis, name: str) -> None:
        source = files("tocsin_kit").joinpath(f"lua/{name}.lua").read_text(encoding="utf-8")
        self._name = name
        self._script = client.register_script(source)

    async def __call__(self, keys: Sequence[str], args: Sequence[str | int | float]) -> Any:
        """Run it; a store that does not answer is a TransientError."""
        async with translated(f"script {self._name} on {keys[0]!r}"):
            return await self._script(keys=list(keys), args=list(args))
