"""What the bytes of a checkpoint mean: LangGraph's values to cells and back, without IO."""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    PendingWrite,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

import tocsin_contracts
from tocsin_kit.checkpoint_rows import Address, task_and_index

_END = b"\0"
_BETWEEN_NAMES = b"\n"


def _contracts() -> Iterator[type]:
    """Yield every type of the contracts that events bring with them, where it is defined."""
    inside = f"{tocsin_contracts.__name__}."
    for name, module in sorted(sys.modules.items()):
        if name.startswith(inside):
            kinds = (one for one in vars(module).values() if isinstance(one, type))
            yield from (kind for kind in kinds if kind.__module__ == name)


CONTRACTS = tuple(_contracts())


def strict_serializer(*types: type) -> JsonPlusSerializer:
    """Return a serializer that revives the contracts, the given types and LangGraph's own.

    Whatever else a cell claims to hold comes back as plain data, so reading state that someone
    else may have written imports and calls nothing else.
    """
    return JsonPlusSerializer(allowed_msgpack_modules=[*CONTRACTS, *types])


@dataclass(frozen=True, slots=True)
class Codec:
    """Turns what LangGraph hands over into cells, and cells back."""

    serde: SerializerProtocol

    def row(
        self,
        address: Address,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
    ) -> bytes:
        """Pack a checkpoint without its values, behind the plain names of the blobs it needs."""
        versions = checkpoint["channel_versions"].items()
        names = (address.blob_field(*version).encode() for version in versions)
        body = {key: value for key, value in checkpoint.items() if key != "channel_values"}
        parent = Address.of(config).checkpoint_id
        cell = self._pack([parent, body, get_checkpoint_metadata(config, metadata)])
        return _BETWEEN_NAMES.join(names) + _END + cell

    def blobs(
        self, address: Address, checkpoint: Checkpoint, versions: ChannelVersions
    ) -> dict[str, bytes]:
        """Pack the values that are new; a channel that was emptied has no blob."""
        values = checkpoint["channel_values"]
        return {
            address.blob_field(channel, version): self._pack(values[channel])
            for channel, version in versions.items()
            if channel in values
        }

    def writes(
        self, address: Address, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Iterator[tuple[str, bytes, bool]]:
        """Yield field, cell and whether it replaces what is there: errors and interrupts do."""
        for position, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, position)
            cell = self._pack([task_path, channel, value])
            yield address.write_field(task_id, index), cell, index < 0

    def checkpoint_tuple(
        self,
        address: Address,
        row: bytes,
        blobs: Sequence[bytes | None],
        writes: Sequence[bytes],
    ) -> CheckpointTuple:
        """Put a checkpoint together; `blobs` come in the row's order, `writes` as field, cell."""
        parent, body, metadata = self._unpack(row.partition(_END)[2])
        cells = zip(body["channel_versions"], blobs, strict=True)
        values = {channel: self._unpack(cell) for channel, cell in cells if cell is not None}
        return CheckpointTuple(
            config=address.config,
            checkpoint=body | {"channel_values": values},
            metadata=metadata,
            parent_config=replace(address, checkpoint_id=parent).config if parent else None,
            pending_writes=self._pending(writes),
        )

    def _pending(self, writes: Sequence[bytes]) -> list[PendingWrite]:
        pending = []
        for field, cell in zip(writes[::2], writes[1::2], strict=True):
            task_id, index = task_and_index(field)
            path, channel, value = self._unpack(cell)
            order = writes_sort_key(path, task_id, index)
            pending.append((order, (task_id, channel, value)))
        return [write for _, write in sorted(pending, key=itemgetter(0))]

    def _pack(self, value: object) -> bytes:
        kind, data = self.serde.dumps_typed(value)
        return kind.encode() + _END + data

    def _unpack(self, cell: bytes) -> Any:
        kind, _, data = cell.partition(_END)
        return self.serde.loads_typed((kind.decode(), data))


def orphans(rows: Mapping[bytes, bytes], doomed: Collection[bytes]) -> set[bytes]:
    """Return the names of the blobs that no row needs any more once the doomed rows are gone."""
    gone = _blob_names(row for name, row in rows.items() if name in doomed)
    return gone - _blob_names(row for name, row in rows.items() if name not in doomed)


def _blob_names(rows: Iterable[bytes]) -> set[bytes]:
    return {name for row in rows for name in row.partition(_END)[0].split(_BETWEEN_NAMES) if name}
