"""A bounded queue of records on disk for when the servers are away; what it took survives a kill.

Each record has its length and checksum before it, and is on the disk before `append` returns. A
segment is never written to again by another process, so that a record which a kill tore is the
last of its segment: nobody was told that it was stored. Damage costs the records that it is in and
no other; a segment with anything in it that cannot be read is kept, until its room is needed.
"""

import asyncio
import os
import struct
import threading
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tocsin_kit import damaged, logging
from tocsin_kit.damaged import Damaged
from tocsin_kit.errors import PermanentError, TransientError

SEGMENT_BYTES = 1024 * 1024
"""After how much a segment is full; only whole segments are given back to the disk."""

SUFFIX = ".spool"
_HEAD = struct.Struct(">II")
_SEED = 1
"""What checksums begin with: zeros, which a disk may give back for what it lost, are no record."""

log = logging.get(__name__)


@dataclass(slots=True)
class _Segment:
    path: Path
    records: int
    size: int
    damaged: bool = False


class Spool:
    """Records in the order in which they came. One process owns the folder."""

    def __init__(self, folder: Path, *, most_bytes: int, most_records: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._most_records = most_records
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            left, copies = _left(folder, SUFFIX), _left(folder, damaged.SUFFIX)
            self._segments = deque(map(_found, left))
            self._size = sum(segment.size for segment in self._segments)
            self._damaged = Damaged(copies)
            self._damaged.shrink(most_bytes - self._size)
        except OSError as error:
            raise PermanentError(f"spool {str(folder)!r} cannot be used: {error}") from error
        self._number = max((int(path.stem) for path in (*left, *copies)), default=0)
        self._file: int | None = None
        self._taken = 0
        self._waiting = sum(segment.records for segment in self._segments)

    @property
    def waiting(self) -> int:
        """How many records wait."""
        return self._waiting

    @property
    def has_room(self) -> bool:
        """Whether another record may be appended."""
        return self._fits(1, 1)

    async def append(self, records: Sequence[bytes]) -> None:
        """Return once all records are on the disk; TransientError if there is no room for them."""
        whole = b"".join(map(_framed, records))
        try:
            await asyncio.to_thread(self._write, whole, len(records))
        except OSError as error:
            raise TransientError(f"the spool cannot be written: {error}") from error

    async def peek(self, most: int) -> list[bytes]:
        """Return the oldest records that wait, without taking them away.

        TransientError if the disk does not give them.
        """
        try:
            return await asyncio.to_thread(self._peek, most)
        except OSError as error:
            raise TransientError(f"the spool cannot be read: {error}") from error

    async def take(self, count: int) -> None:
        """Forget the oldest records: they are stored elsewhere now.

        TransientError if the disk does not let go of them: a restart hands them on once more.
        """
        try:
            await asyncio.to_thread(self._take, count)
        except OSError as error:
            raise TransientError(f"the spool cannot be emptied: {error}") from error

    def _fits(self, records: int, size: int) -> bool:
        return (
            self._waiting + records <= self._most_records and self._size + size <= self._most_bytes
        )

    def _write(self, whole: bytes, count: int) -> None:
        with self._lock:
            if not self._fits(count, len(whole)):
                raise TransientError(f"the spool is full: {self._waiting} records wait")
            self._damaged.shrink(self._most_bytes - self._size - len(whole))
            segment, file = self._open()
            try:
                _write_all(file, whole)
            except OSError:
                self._take_back(file, segment.size)
                raise
            segment.records += count
            segment.size += len(whole)
            self._waiting += count
            self._size += len(whole)

    def _open(self) -> tuple[_Segment, int]:
        if self._file is not None and self._segments[-1].size < SEGMENT_BYTES:
            return self._segments[-1], self._file
        self._close()
        self._number += 1
        path = self._folder / f"{self._number:012d}{SUFFIX}"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self._segments.append(_Segment(path, 0, 0))
        try:
            _sync_folder(self._folder)
        except OSError:
            self._close()
            raise
        return self._segments[-1], self._file

    def _take_back(self, file: int, size: int) -> None:
        """Undo what may be half a record; where that fails it has to be the last of its segment."""
        try:
            os.ftruncate(file, size)
        except OSError:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _peek(self, most: int) -> list[bytes]:
        with self._lock:
            while self._segments:
                first = self._segments[0]
                records = list(_records(first.path.read_bytes()))[: first.records]
                if lost := first.records - len(records):
                    log.error("spool.damaged", segment=first.path.name, lost=lost)
                    first.records, first.damaged = len(records), True
                    self._waiting -= lost
                if waiting := records[self._taken : self._taken + most]:
                    return waiting
                self._drop_first()
            return []

    def _take(self, count: int) -> None:
        with self._lock:
            self._taken += count
            self._waiting -= count
            if self._segments and self._taken >= self._segments[0].records:
                self._drop_first()

    def _drop_first(self) -> None:
        if len(self._segments) == 1:
            self._close()
        first = self._segments.popleft()
        self._size -= first.size
        self._taken = 0
        if first.damaged:
            self._damaged.keep(first.path)
        else:
            first.path.unlink(missing_ok=True)


def _write_all(file: int, whole: bytes) -> None:
    left = memoryview(whole)
    while left:
        left = left[os.write(file, left) :]
    os.fsync(file)


def _sync_folder(folder: Path) -> None:
    """Put a new name on the disk too, not only what it names."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _left(folder: Path, suffix: str) -> list[Path]:
    """Return what a process left behind, in order; other files are nobody's business."""
    return sorted(path for path in folder.glob(f"*{suffix}") if path.stem.isdecimal())


def _framed(record: bytes) -> bytes:
    return _HEAD.pack(len(record), zlib.crc32(record, _SEED)) + record


def _found(path: Path) -> _Segment:
    """Count the records of a segment that can be read."""
    data, count, readable = path.read_bytes(), 0, 0
    for record in _records(data):
        count, readable = count + 1, readable + _HEAD.size + len(record)
    if damaged := readable < len(data):
        log.warning("spool.unreadable", segment=path.name, unread_bytes=len(data) - readable)
    return _Segment(path, count, len(data), damaged)


def _records(data: bytes) -> Iterator[bytes]:
    """Yield the records of a segment that are as they were written, whatever is between them."""
    at = 0
    while at + _HEAD.size <= len(data):
        length, checksum = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + length
        record = data[at + _HEAD.size : end] if end <= len(data) else None
        if record is None or zlib.crc32(record, _SEED) != checksum:
            at += 1
            continue
        yield record
        at = end
