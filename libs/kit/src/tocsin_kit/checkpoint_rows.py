"""What the checkpoints of a thread are called: its three hashes and the fields in them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from langchain_core.runnables import RunnableConfig

from tocsin_kit import keys

_ROWS = ":rows"
_IN_FIELD = "\x1f"


@dataclass(frozen=True, slots=True)
class ThreadKeys:
    """The hashes of one thread; they share the slot of its run, which is its id up to the colon."""

    rows: str
    blobs: str
    writes: str

    @classmethod
    def of(cls, thread_id: str) -> Self:
        """Name the hashes of `<run>:<service>:<attempt>`; an id without a colon is its own run."""
        run, colon, rest = thread_id.partition(":")
        base = keys.checkpoints(run, f"{colon}{rest}")
        return cls(rows=f"{base}{_ROWS}", blobs=f"{base}:blobs", writes=f"{base}:writes")

    def __iter__(self) -> Iterator[str]:
        return iter((self.rows, self.blobs, self.writes))


def every_rows_key() -> str:
    """Return the pattern that finds every thread of a deployment."""
    return f"{keys.checkpoints('*', '*')}{_ROWS}"


@dataclass(frozen=True, slots=True)
class Address:
    """One checkpoint of a thread; an empty id stands for the newest one of the namespace."""

    thread_id: str
    namespace: str
    checkpoint_id: str

    @classmethod
    def of(cls, config: RunnableConfig) -> Self:
        """Read it from what LangGraph calls configurable."""
        asked = config["configurable"]
        return cls(
            thread_id=str(asked["thread_id"]),
            namespace=asked.get("checkpoint_ns", ""),
            checkpoint_id=asked.get("checkpoint_id") or "",
        )

    @classmethod
    def of_field(cls, thread_id: str, field: bytes) -> Self:
        """Read it from the name of a row."""
        namespace, checkpoint_id = field.decode().split(_IN_FIELD)
        return cls(thread_id, namespace, checkpoint_id)

    @property
    def config(self) -> RunnableConfig:
        """What LangGraph wants back to find this checkpoint again."""
        return {
            "configurable": {
                "thread_id": self.thread_id,
                "checkpoint_ns": self.namespace,
                "checkpoint_id": self.checkpoint_id,
            }
        }

    def answers(self, asked: Mapping[str, Any]) -> bool:
        """Whether it is among what a configurable asks for: what that leaves out is open."""
        namespace = asked.get("checkpoint_ns", self.namespace)
        checkpoint_id = asked.get("checkpoint_id") or self.checkpoint_id
        return (namespace, checkpoint_id) == (self.namespace, self.checkpoint_id)

    @property
    def prefix(self) -> str:
        """What the names of all rows and blobs of the namespace start with."""
        return f"{self.namespace}{_IN_FIELD}"

    @property
    def field(self) -> str:
        """The name of the row."""
        return f"{self.prefix}{self.checkpoint_id}"

    def blob_field(self, channel: str, version: str | float) -> str:
        """The name of one value of a channel; checkpoints share the values that did not change."""
        return f"{self.prefix}{channel}{_IN_FIELD}{version}"

    def write_field(self, task_id: str, index: int) -> str:
        """The name of one write of a task that ran after this checkpoint."""
        return f"{self.field}{_IN_FIELD}{task_id}{_IN_FIELD}{index}"


def thread_of(rows_key: str) -> str:
    """Return the thread that a rows key belongs to."""
    tagged = rows_key.removeprefix(keys.checkpoints("", "").removesuffix("{}")).removesuffix(_ROWS)
    return tagged.removeprefix("{").replace("}", "", 1)


def newest_first(addresses: Iterable[Address]) -> list[Address]:
    """Sort by age: the ids of checkpoints begin with their time."""
    return sorted(addresses, key=lambda address: address.checkpoint_id, reverse=True)


def older(addresses: Sequence[Address]) -> list[Address]:
    """Return all but the newest checkpoint of each namespace."""
    newest = {each.namespace: each for each in reversed(newest_first(addresses))}
    return [each for each in addresses if each != newest[each.namespace]]


def task_and_index(field: bytes) -> tuple[str, int]:
    """Read the task and the position from the name of a write."""
    *_, task_id, index = field.decode().split(_IN_FIELD)
    return task_id, int(index)


def row_of(field: bytes) -> bytes:
    """Return the name of the row that a write came after."""
    return field.rsplit(_IN_FIELD.encode(), 2)[0]
