"""What people were told already, so that a message delivered twice is shown once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from redis.asyncio import Redis

from tocsin_contracts import RunId
from tocsin_kit import keys
from tocsin_kit.store import text_fields, translated

KEPT = timedelta(days=30)


class Notice(StrEnum):
    """What became of a message on a channel."""

    TOLD = "1"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Told:
    """What became of the messages of one run, by channel and message."""

    notices: Mapping[tuple[str, str], Notice] = field(default_factory=dict)

    def has(self, channel: str, message_id: str) -> bool:
        """Whether a channel has shown a message."""
        return self.notices.get((channel, message_id)) is Notice.TOLD

    def heard(self) -> frozenset[str]:
        """The channels that have shown anything of the run, or hold it until quiet hours end."""
        return frozenset(channel for channel, _ in self.notices)

    def held(self) -> Mapping[str, frozenset[str]]:
        """The messages that a channel holds and has not shown since, by channel."""
        waiting = [key for key, notice in self.notices.items() if notice is Notice.HELD]
        return {
            channel: frozenset(message for where, message in waiting if where == channel)
            for channel in sorted({channel for channel, _ in waiting})
        }


class Notices:
    """The notifier's own record, one per run."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def of(self, run_id: RunId) -> Told:
        """Return what became of the messages of a run."""
        async with translated(f"read notices of {run_id!r}"):
            found = text_fields(await self._client.hgetall(keys.notice(run_id)))
        pairs = {name.partition(":")[::2]: Notice(value) for name, value in found.items()}
        return Told({(channel, message): notice for (channel, message), notice in pairs.items()})

    async def settle(self, run_id: RunId, message_id: str, channel: str) -> None:
        """Remember that a channel has shown a message."""
        key = keys.notice(run_id)
        async with translated(f"settle notice of {run_id!r}"):
            await self._client.hset(key, f"{channel}:{message_id}", Notice.TOLD)
            await self._client.expire(key, KEPT)

    async def hold(self, run_id: RunId, message_id: str, channel: str) -> None:
        """Remember that a channel holds a message; one that it has shown stays so."""
        key = keys.notice(run_id)
        async with translated(f"hold notice of {run_id!r}"):
            await self._client.hsetnx(key, f"{channel}:{message_id}", Notice.HELD)
            await self._client.expire(key, KEPT)
