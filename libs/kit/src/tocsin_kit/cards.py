"""Where the messages about incidents stand in a chat: each is edited, and none is shown twice.

Before anything is posted, that it is going to be is written down here; whoever takes over after a
crash knows that it may stand there already, and looks.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from pydantic import AwareDatetime
from redis.asyncio import Redis

from tocsin_contracts import Value
from tocsin_kit import keys
from tocsin_kit.clock import from_millis, millis
from tocsin_kit.errors import TransientError
from tocsin_kit.store import Script, translated

KEPT = timedelta(days=7)
"""Since its last change; an incident that was quiet for longer gets a new message."""

HELD_SECONDS = 90
"""How long whoever changes a message may take; a crash delays the next change by as much."""

BUSY_SECONDS = 0.5

_CARD = "card"
_POSTING, _AT = "posting:", "at:"


class Card(Value):
    """One message: where it stands, which run it shows, and how far.

    `ts` is what the chat calls the message, `shown` a digest of what it says, `label` the surface
    of the nonce in its buttons, `runs` how many runs it has shown.
    """

    channel: str = ""
    ts: str = ""
    run_id: str = ""
    opened_at: AwareDatetime | None = None
    runs: int = 0
    version: int = -1
    shown: str = ""
    label: str = ""
    plan_hash: str = ""


class Cards:
    """The records. Every method raises TransientError when the store does not answer."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._let_go = Script(client, "let_go")

    @asynccontextmanager
    async def held(self, subject: str) -> AsyncIterator[None]:
        """Be the only one who changes the message; TransientError while somebody else does."""
        key, token = keys.card_lock(subject), secrets.token_hex(8)
        async with translated(f"hold the card of {subject!r}"):
            ours = await self._client.set(key, token, nx=True, ex=HELD_SECONDS)
        if not ours:
            raise TransientError("another worker changes the message", retry_in=BUSY_SECONDS)
        try:
            yield
        finally:
            await self._let_go([key], [token])

    async def get(self, subject: str) -> Card:
        """Return the record; an empty one where nothing was shown yet."""
        async with translated(f"read the card of {subject!r}"):
            found = await self._client.hget(keys.card(subject), _CARD)
        return Card.model_validate_json(found) if found else Card()

    async def put(self, subject: str, card: Card) -> None:
        """Keep the record, and that its message shows its run."""
        await self._keep(subject, _CARD, card.model_dump_json())
        if card.ts:
            async with translated(f"keep the place of the card of {subject!r}"):
                await self._client.set(keys.card_at(card.channel, card.ts), card.run_id, ex=KEPT)

    async def shown_at(self, channel: str, ts: str) -> str:
        """Return the run that a message shows; empty for one that is none of ours."""
        async with translated(f"look for the card at {ts!r}"):
            found = await self._client.get(keys.card_at(channel, ts))
        return str(found) if found else ""

    async def posting(self, subject: str, name: str, now: datetime) -> datetime | None:
        """Write down that something is going to be posted; return since when it was, if before."""
        key, field = keys.card(subject), f"{_POSTING}{name}"
        async with translated(f"write down a post about {subject!r}"):
            first = await self._client.hsetnx(key, field, str(millis(now)))
            await self._client.expire(key, KEPT)
            since = None if first else await self._client.hget(key, field)
        return from_millis(str(since)) if since else None

    async def posted(self, subject: str, name: str, ts: str) -> None:
        """Write down where it stands."""
        await self._keep(subject, f"{_AT}{name}", ts)

    async def where(self, subject: str, name: str) -> str:
        """Return where something stands that was posted; empty if nobody knows of it."""
        async with translated(f"look for a post about {subject!r}"):
            found = await self._client.hget(keys.card(subject), f"{_AT}{name}")
        return str(found) if found else ""

    async def forget(self, subject: str, name: str) -> None:
        """Strike out a post that stands nowhere any more."""
        async with translated(f"forget a post about {subject!r}"):
            await self._client.hdel(keys.card(subject), f"{_POSTING}{name}", f"{_AT}{name}")

    async def _keep(self, subject: str, field: str, value: str) -> None:
        key = keys.card(subject)
        async with translated(f"keep the card of {subject!r}"):
            pipe = self._client.pipeline(transaction=False)
            pipe.hset(key, field, value)
            pipe.expire(key, KEPT)
            await pipe.execute()
