"""Keys of the run store to a file and back, each with the moment at which it is forgotten."""

import base64
import json
from collections.abc import AsyncIterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from tocsin_kit import keys
from tocsin_kit.errors import PermanentError
from tocsin_kit.store import translated

PAGE = 500
GONE = -2
"""What the store says of the end of a key that is gone."""


class _Line(NamedTuple):
    key: str
    ends: int
    dump: str


async def save(client: Redis, file: Path) -> int:
    """Write every key of this deployment, a line for each; returns how many.

    The client answers bytes. Who tells of itself right now is left out: after a restore it would
    be missed. Raises TransientError when the store does not answer.
    """
    count = 0
    with file.open("x", encoding="utf-8") as out:
        async for page in _pages(client):
            for line in await _dumped(client, [one for one in page if not _passing(one)]):
                out.write(json.dumps(line) + "\n")
                count += 1
    return count


async def restore(client: Redis, file: Path) -> None:
    """Write the keys of a file; those whose time is over meanwhile are not made again.

    Raises PermanentError for a store that cannot read them, TransientError for one that is silent.
    """
    with file.open(encoding="utf-8") as lines:
        while page := [_Line(*json.loads(line)) for line in islice(lines, PAGE)]:
            async with translated("restore keys"):
                pipe = client.pipeline(transaction=False)
                for one in page:
                    ends, dump = max(one.ends, 0), base64.b64decode(one.dump)
                    pipe.restore(one.key, ends, dump, replace=True, absttl=bool(ends))
                _taken(page, await pipe.execute(raise_on_error=False))


async def clear(client: Redis) -> None:
    """Forget every key of this deployment."""
    async for page in _pages(client):
        async with translated("forget keys"):
            await client.unlink(*page)


async def is_empty(client: Redis) -> bool:
    """Whether this deployment has no key here."""
    async for _ in _pages(client):
        return False
    return True


async def _pages(client: Redis) -> AsyncIterator[list[str]]:
    cursor: Any = None
    while cursor != 0:
        async with translated("list keys"):
            cursor, found = await client.scan(cursor or 0, f"{keys.prefix()}:*", PAGE)
        if found:
            yield [key.decode() if isinstance(key, bytes) else key for key in found]


async def _dumped(client: Redis, page: Sequence[str]) -> list[_Line]:
    async with translated("save keys"):
        pipe = client.pipeline(transaction=False)
        for key in page:
            pipe.dump(key)
            pipe.pexpiretime(key)
        told = await pipe.execute()
    return [
        _Line(key, ends, base64.b64encode(dump).decode())
        for key, dump, ends in zip(page, told[::2], told[1::2], strict=True)
        if dump is not None and ends != GONE
    ]


def _passing(key: str) -> bool:
    return key == keys.heartbeats() or key.startswith(keys.heartbeat(""))


def _taken(page: Sequence[_Line], told: Sequence[object]) -> None:
    for one, answer in zip(page, told, strict=True):
        if isinstance(answer, ResponseError):
            raise PermanentError(
                f"the store does not take {one.key!r}: {answer}; it has to be of the version that "
                "was saved, or newer"
            )
        if isinstance(answer, Exception):
            raise answer
