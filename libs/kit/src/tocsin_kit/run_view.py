"""Reading runs: the record as an object, for whoever shows or continues one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from redis.asyncio import Redis

from tocsin_contracts import BY_TOPIC, OPEN_STATES, Event, RunId, RunState
from tocsin_kit import keys, logging
from tocsin_kit.clock import from_millis
from tocsin_kit.store import text_fields, translated

E = TypeVar("E", bound=Event)
PAGE = 200
LOOKED_THROUGH = 10_000
_HEAD = ("state", "version", "created", "updated", "cancel")

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it stands: the latest event of each topic, and those of the same before it.

    Of these the record keeps twenty of a topic; `forgotten` counts the others.
    """

    id: RunId
    state: RunState
    version: int
    created_at: datetime
    updated_at: datetime
    cancel_requested: bool
    facts: dict[str, Event]
    past: tuple[Event, ...] = ()
    forgotten: int = 0

    @property
    def told(self) -> list[Event]:
        """Every fact that is kept, in the order in which they happened."""
        known = {_content(fact): fact for fact in (*self.past, *self.facts.values())}
        return sorted(known.values(), key=lambda fact: fact.at)

    def fact(self, event_type: type[E]) -> E | None:
        """Return the latest event of a type, or None if it has not happened."""
        found = self.facts.get(event_type.topic)
        return found if isinstance(found, event_type) else None


@dataclass(frozen=True, slots=True)
class Standing:
    """The open runs that are in one state, and when the one that moved least recently did."""

    state: RunState
    runs: int
    oldest: datetime


class RunReader:
    """Reads the records that services commit."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def get(self, run_id: RunId) -> Run | None:
        """Return the run, or None if there is no such run (or it is older than the store keeps)."""
        async with translated(f"read run {run_id!r}"):
            record = text_fields(await self._client.hgetall(keys.run(run_id)))
        return _run(run_id, record) if "created" in record else None

    async def recent(
        self, limit: int, state: RunState | None = None, *, kinds: Sequence[type[Event]] = ()
    ) -> list[Run]:
        """Return the newest runs first, of one state only if one is given.

        Of a state, the newest 10,000 runs are looked through. With `kinds`, only facts of these
        are read: most of a record's size is in the others.
        """
        topics = [kind.topic for kind in kinds]
        found: list[Run] = []
        reach = limit if state is None else LOOKED_THROUGH
        for first in range(0, reach, PAGE):
            ids = await self._ids(first, min(first + PAGE, reach), state)
            found += [run for run_id in ids if (run := await self._readable(run_id, topics))]
            if (not ids and state is None) or len(found) >= limit:
                break
        return found[:limit]

    async def standing(self) -> list[Standing]:
        """Return how many of the newest 10,000 runs are in each open state; none is left out."""
        moved: dict[RunState, list[int]] = {}
        for first in range(0, LOOKED_THROUGH, PAGE):
            async with translated("look where runs are"):
                page: list[Any] = await self._client.zrevrange(keys.runs(), first, first + PAGE - 1)
                pipe = self._client.pipeline(transaction=False)
                for run_id in page:
                    pipe.hmget(keys.run(str(run_id)), ["state", "updated"])
                records = await pipe.execute() if page else []
            for state, updated in records:
                if state in OPEN_STATES and updated:
                    moved.setdefault(RunState(state), []).append(int(updated))
            if len(page) < PAGE:
                break
        return [Standing(s, len(at), from_millis(str(min(at)))) for s, at in moved.items()]

    async def _ids(self, first: int, after: int, state: RunState | None) -> list[RunId]:
        async with translated("list runs"):
            page: list[Any] = await self._client.zrevrange(keys.runs(), first, after - 1)
            if state is None:
                return [RunId(str(run_id)) for run_id in page]
            pipe = self._client.pipeline(transaction=False)
            for run_id in page:
                pipe.hget(keys.run(str(run_id)), "state")
            states = await pipe.execute()
        return [RunId(str(run_id)) for run_id, at in zip(page, states, strict=True) if at == state]

    async def _readable(self, run_id: RunId, topics: Sequence[str]) -> Run | None:
        """One record that cannot be read must not hide the others."""
        try:
            return await (self._part(run_id, topics) if topics else self.get(run_id))
        except ValueError as error:
            log.warning("runs.record_unreadable", run_id=run_id, why=type(error).__name__)
            return None

    async def _part(self, run_id: RunId, topics: Sequence[str]) -> Run | None:
        fields = [*_HEAD, *(f"fact:{topic}" for topic in topics)]
        async with translated(f"read run {run_id!r}"):
            values = await self._client.hmget(keys.run(run_id), fields)
        record = {field: str(value) for field, value in zip(fields, values, strict=True) if value}
        return _run(run_id, record) if "created" in record else None


def _content(fact: Event) -> tuple[str, str]:
    """Return what a fact says: a message that was given again says it twice."""
    lineage = {"id", "cause", "run_version", "trace"}
    return fact.topic, fact.model_dump_json(exclude=lineage)


def _run(run_id: RunId, record: dict[str, str]) -> Run:
    return Run(
        id=run_id,
        state=RunState(record.get("state", RunState.RECEIVED)),
        version=int(record.get("version", 0)),
        created_at=from_millis(record["created"]),
        updated_at=from_millis(record.get("updated", record["created"])),
        cancel_requested="cancel" in record,
        facts={
            topic: BY_TOPIC[topic].model_validate_json(body.partition("\n")[2])
            for topic, body in _named(record, "fact:")
            if topic in BY_TOPIC
        },
        past=tuple(_past(record)),
        forgotten=sum(int(count) for _, count in _named(record, "more:")),
    )


def _past(record: dict[str, str]) -> Iterator[Event]:
    for name, body in _named(record, "past:"):
        topic = name.partition(" ")[0]
        if topic in BY_TOPIC:
            yield BY_TOPIC[topic].model_validate_json(body)


def _named(record: dict[str, str], prefix: str) -> Iterator[tuple[str, str]]:
    return ((n.removeprefix(prefix), b) for n, b in record.items() if n.startswith(prefix))
