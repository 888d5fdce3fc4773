"""The audit: what people decided, changed and overrode, as a chain that only grows.

The facts in the stream are the source. Every replica of the gateway follows them and offers each
to the store, which takes one entry of a fact, and only behind the last one: so it cannot fork.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from nats.aio.client import Client
from pydantic import Field, ValidationError
from redis.asyncio import Redis

from tocsin_contracts import (
    BY_TOPIC,
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRecorded,
    BudgetExtended,
    Event,
    PullRequestClosed,
    PullRequestMerged,
    RunCancelRequested,
)
from tocsin_contracts.amending import AmendmentRequested
from tocsin_contracts.base import Value
from tocsin_contracts.configuring import ConfigChanged
from tocsin_contracts.operations import (
    DeadLetterDiscarded,
    DeadLetterReplayed,
    RunEscalationRequested,
    RunRerun,
)
from tocsin_contracts.outcomes import Rated
from tocsin_kit import keys, logging, store
from tocsin_kit.audit_chain import Broken, Entry, Fault, Key, broken, linked
from tocsin_kit.ensure import connected
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.feed import Fact, Feed
from tocsin_kit.store import Script, translated

AUDITED: tuple[type[Event], ...] = (
    *(ApprovalRecorded, ApprovalGranted, ApprovalDenied, ApprovalExpired, AmendmentRequested),
    *(RunCancelRequested, RunRerun, RunEscalationRequested, BudgetExtended),
    *(PullRequestMerged, PullRequestClosed),
    *(DeadLetterReplayed, DeadLetterDiscarded, ConfigChanged, Rated),
)
"""The facts that a person caused."""

PAGE = 500
PAUSE_SECONDS = 1.0
MOST_TRIES = 100
_APPENDED, _KNOWN = 1, 0

log = logging.get(__name__)


class Chain:
    """The entries in the store. Every method raises TransientError without an answer of it."""

    def __init__(self, client: Redis, key: Key | None = None) -> None:
        self._client = client
        self._key = key
        self._append = Script(client, "audit_append")

    async def head(self) -> Entry | None:
        """Return the newest entry, if there is one; PermanentError if it cannot be read."""
        async with translated("read the head of the audit"):
            found: Any = await self._client.xrevrange(keys.audit_chain(), count=1)
        return _entry(*found[0]) if found else None

    async def append(self, number: int, event: Event) -> Entry | None:
        """Put a fact of the stream behind the last entry; None if it is in the chain already."""
        for _ in range(MOST_TRIES):
            entry = linked(await self.head(), number, event, self._key)
            said = await self._append(
                [keys.audit_chain(), keys.audit_facts()],
                [entry.event, entry.number, entry.before, entry.hash, entry.model_dump_json()],
            )
            if said == _APPENDED:
                return entry
            if said == _KNOWN:
                return None
        raise TransientError(f"audit: no place for fact {number}: others were first each time")

    async def entries(self) -> AsyncGenerator[Entry, None]:
        """Yield every entry, the oldest first; PermanentError for one that cannot be read."""
        after = "-"
        while True:
            async with translated("read the audit"):
                page: Any = await self._client.xrange(keys.audit_chain(), after, count=PAGE)
            for id, fields in page:
                yield _entry(id, fields)
            if len(page) < PAGE:
                return
            after = f"({page[-1][0]}"


class Auditor:
    """Follows the facts and appends those that are audited, in their order, until cancelled.

    It begins where the chain ends: what the store has lost is appended again from the stream.
    """

    def __init__(self, chain: Chain, feed: Feed) -> None:
        self._chain = chain
        self._feed = feed

    async def run(self) -> None:
        """Follow; while bus or store are away, wait."""
        while True:
            try:
                await self._follow()
            except (TransientError, PermanentError) as error:
                log.warning("audit.waits", why=str(error))
            await asyncio.sleep(PAUSE_SECONDS)

    async def _follow(self) -> None:
        head = await self._chain.head()
        after = head.fact if head else 0
        async with aclosing(self._feed.facts(after, kinds=AUDITED)) as facts:
            async for fact in facts:
                entry = fact.event and await self._chain.append(fact.number, fact.event)
                if entry:
                    log.info(
                        "audit.appended", number=entry.number, hash=entry.hash, topic=entry.topic
                    )


class Verified(Value):
    """What a check of the chain came to; `head` is its newest hash, to be kept elsewhere.

    `waiting` are facts of the stream that are newer than the chain, and will be appended.
    """

    entries: int
    head: str = ""
    sealed: bool = Field(description="Whether the seals were checked, with a key.")
    compared: int = Field(default=0, description="Facts of the stream that were looked up.")
    waiting: int = 0
    broken: Broken | None = None


async def verify(nats_url: str, redis_url: str, *, prefix: str, key: Key | None = None) -> Verified:
    """Check every link, and every audited fact that the stream still tells against its entry.

    Asks bus and store themselves; TransientError if one of them does not answer.
    """
    keys.use_prefix(prefix)
    client = store.connect(redis_url)
    try:
        async with connected(nats_url) as bus:

            async def connect() -> Client:
                return bus

            return await checked(Chain(client), Feed(connect), key)
    finally:
        await client.aclose()


async def checked(chain: Chain, feed: Feed, key: Key | None = None) -> Verified:
    """Return what a check over open connections comes to."""
    entries: list[Entry] = []
    try:
        await _collect(chain, entries)
    except PermanentError as error:
        log.warning("audit.unreadable", why=str(error))
        unreadable = Broken(number=len(entries) + 1, fault=Fault.UNREADABLE)
        return Verified(entries=len(entries), sealed=key is not None, broken=unreadable)
    newest = await feed.newest()
    async with aclosing(feed.past(0, newest, kinds=AUDITED)) as past:
        facts = [fact async for fact in past if fact.event]
    at_fault = broken(entries, key) or _differing(entries, facts)
    end = entries[-1].fact if entries else 0
    return Verified(
        entries=len(entries),
        head=entries[-1].hash if entries else "",
        sealed=key is not None,
        compared=len(facts),
        waiting=sum(fact.number > end for fact in facts),
        broken=at_fault,
    )


async def exported(redis_url: str, *, prefix: str) -> list[Entry]:
    """Return every entry; TransientError if the store does not answer."""
    keys.use_prefix(prefix)
    client = store.connect(redis_url)
    try:
        return [entry async for entry in Chain(client).entries()]
    finally:
        await client.aclose()


async def _collect(chain: Chain, entries: list[Entry]) -> None:
    """Take over every entry, up to one that cannot be read."""
    async with aclosing(chain.entries()) as found:
        async for entry in found:
            entries += (entry,)


def _differing(entries: list[Entry], facts: list[Fact]) -> Broken | None:
    """Return the first fact that the chain lacks, or tells otherwise; newer ones may still come."""
    known = {entry.event: entry for entry in entries}
    end = entries[-1].fact if entries else 0
    for fact in facts:
        if fact.event is None or fact.number > end:
            continue
        entry = known.get(fact.event.id)
        if entry is None:
            return Broken(number=0, fault=Fault.MISSING, event=fact.event.id)
        if _told(entry) != fact.event:
            return Broken(number=entry.number, fault=Fault.NOT_THE_FACT, event=entry.event)
    return None


def _told(entry: Entry) -> Event | None:
    kind = BY_TOPIC.get(entry.topic)
    try:
        return kind.model_validate_json(entry.body) if kind else None
    except ValidationError:
        return None


def _entry(id: str, fields: dict[str, str]) -> Entry:
    try:
        entry = Entry.model_validate_json(fields["entry"])
    except (KeyError, ValidationError) as error:
        raise PermanentError(f"entry {id} of the audit cannot be read") from error
    if (f"{entry.number}-0", entry.hash) != (id, fields.get("hash")):
        raise PermanentError(f"entry {id} of the audit stands in another's place")
    return entry
