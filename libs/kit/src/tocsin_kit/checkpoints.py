"""Where LangGraph keeps its state between steps, so that a run survives the worker it ran on."""

import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from importlib.resources import files
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from redis.asyncio import Redis
from redis.commands.core import AsyncScript

from tocsin_kit import keys
from tocsin_kit.checkpoint_cells import Codec, orphans, strict_serializer
from tocsin_kit.checkpoint_rows import (
    Address,
    ThreadKeys,
    every_rows_key,
    newest_first,
    older,
    row_of,
    thread_of,
)
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.store import translated


class RedisSaver(BaseCheckpointSaver[str]):
    """Checkpoints on plain Redis 7 or Valkey: one round trip to put, to put writes and to get.

    A thread expires as a whole, `ttl_seconds` after it was last written. With `fence` in the
    configurable every write checks it against the lease that `lease_key` names for the thread, so
    a worker that lost its run raises TransientError instead of overwriting its successor; so does
    a store that does not answer what a running graph asks. The client must not decode responses.
    LangGraph's synchronous methods are not offered.
    """

    def __init__(
        self,
        client: Redis,
        *,
        ttl_seconds: int,
        lease_key: Callable[[str], str] | None,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde or strict_serializer())
        self._client = client
        self._ttl = ttl_seconds
        self._lease_key = lease_key
        self._put = _script(client, "put")
        self._get = _script(client, "get")
        self._writes = _script(client, "writes")

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Count up; the tail keeps the versions of two forks apart, which share their blobs."""
        count = int(current.partition(".")[0]) + 1 if current else 1
        return f"{count:032}.{secrets.token_hex(8)}"

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; TransientError if the lease is lost."""
        parent = Address.of(config)
        address = Address(parent.thread_id, parent.namespace, checkpoint["id"])
        row = self._codec.row(address, config, checkpoint, metadata)
        blobs = self._codec.blobs(address, checkpoint, new_versions)
        cells = (part for blob in blobs.items() for part in blob)
        await self._owned(self._put, config, [address.field, row, *cells])
        return address.config

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote; a repetition changes nothing. TransientError on a lost lease."""
        cells = self._codec.writes(Address.of(config), writes, task_id, task_path)
        parts = [part for field, cell, replaces in cells for part in (field, cell, int(replaces))]
        await self._owned(self._writes, config, parts)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that is asked for, or the newest of its namespace."""
        asked = Address.of(config)
        names = [*ThreadKeys.of(asked.thread_id)]
        async with translated(f"read a checkpoint of thread {asked.thread_id!r}"):
            found = await self._get(keys=names, args=[asked.prefix, asked.checkpoint_id])
        if found is None:
            return None
        field, *cells = found
        return self._codec.checkpoint_tuple(Address.of_field(asked.thread_id, field), *cells)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield the newest first, one round trip each; without a config, of every thread."""
        asked = config["configurable"] if config else {}
        end = get_checkpoint_id(before) if before else None
        ids = [asked["thread_id"]] if "thread_id" in asked else await self._thread_ids()
        addresses = [each for thread in ids for each in await self._addresses(str(thread))]
        left = len(addresses) if limit is None else limit
        for address in newest_first(addresses):
            if left <= 0:
                return
            if not address.answers(asked) or (end and address.checkpoint_id >= end):
                continue
            found = await self.aget_tuple(address.config)
            if found and (filter or {}).items() <= found.metadata.items():
                left -= 1
                yield found

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove everything of a thread."""
        async with translated(f"remove thread {thread_id!r}"):
            await self._client.unlink(*ThreadKeys.of(thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints whose metadata names one of LangGraph's run ids; reads all."""
        for thread_id in await self._thread_ids():
            config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
            gone = [
                Address.of(found.config)
                async for found in self.alist(config)
                if found.metadata.get("run_id") in run_ids
            ]
            await self._drop(thread_id, gone)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy over the target; on a cluster both must be threads of one run."""
        targets = ThreadKeys.of(target_thread_id)
        async with self._client.pipeline(transaction=True) as pipeline:
            for source, target in zip(ThreadKeys.of(source_thread_id), targets, strict=True):
                pipeline.copy(source, target, replace=True)
            await pipeline.execute()

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep the newest checkpoint of each namespace, or none with `delete`.

        Not for graphs with a DeltaChannel: the checkpoint that stays would miss its history.
        """
        for thread_id in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread_id)
            elif strategy == "keep_latest":
                await self._drop(thread_id, older(await self._addresses(thread_id)))
            else:
                raise PermanentError(f"cannot prune by {strategy!r}; use keep_latest or delete")

    @property
    def _codec(self) -> Codec:
        return Codec(self.serde)

    async def _owned(
        self, script: AsyncScript, config: RunnableConfig, parts: Sequence[str | bytes | int]
    ) -> None:
        asked = config["configurable"]
        thread_id, fence = str(asked["thread_id"]), asked.get("fence", "")
        names = [*ThreadKeys.of(thread_id), *([self._lease(thread_id)] if fence else [])]
        async with translated(f"write a checkpoint of thread {thread_id!r}"):
            stored = await script(keys=names, args=[self._ttl, fence, *parts])
        if not stored:
            raise TransientError(
                f"lease lost on thread {thread_id!r}: another worker owns the run now; let it go"
            )

    def _lease(self, thread_id: str) -> str:
        if self._lease_key is None:
            raise PermanentError(f"thread {thread_id!r} has a fence; give the saver a lease_key")
        return self._lease_key(thread_id)

    async def _thread_ids(self) -> list[str]:
        found = self._client.scan_iter(match=every_rows_key(), count=500)
        return [thread_of(rows.decode()) async for rows in found]

    async def _addresses(self, thread_id: str) -> list[Address]:
        fields = await self._fields(ThreadKeys.of(thread_id).rows)
        return [Address.of_field(thread_id, field) for field in fields]

    async def _fields(self, key: str) -> list[bytes]:
        return cast("list[bytes]", await self._client.hkeys(key))

    async def _drop(self, thread_id: str, gone: Sequence[Address]) -> None:
        names = ThreadKeys.of(thread_id)
        doomed = {address.field.encode() for address in gone}
        rows = cast("dict[bytes, bytes]", await self._client.hgetall(names.rows))
        blobs = orphans(rows, doomed)
        writes = [each for each in await self._fields(names.writes) if row_of(each) in doomed]
        async with self._client.pipeline(transaction=True) as pipeline:
            for key, fields in zip(names, (doomed, blobs, writes), strict=True):
                if fields:
                    pipeline.hdel(key, *fields)
            await pipeline.execute()


def lease_of(thread_id: str) -> str:
    """Return the lease that guards the thread `<run>:<service>:<attempt>`."""
    run_id, service, *_ = thread_id.split(":")
    return keys.lease(run_id, service)


def _script(client: Redis, name: str) -> AsyncScript:
    source = files("tocsin_kit").joinpath("lua", f"checkpoint_{name}.lua")
    return client.register_script(source.read_text(encoding="utf-8"))
