"""Copies of damaged spool segments: kept for a person to look at, for as long as there is room."""

from collections import deque
from collections.abc import Iterable
from pathlib import Path

from tocsin_kit import logging
from tocsin_kit.metrics import Counter

SUFFIX = ".damaged"
DROPPED = Counter(
    "tocsin_spool_damaged_dropped_total",
    "Copies of damaged segments that were dropped to make room for records.",
)

log = logging.get(__name__)


class Damaged:
    """The copies in a folder, the oldest first, and how many bytes they take."""

    def __init__(self, found: Iterable[Path]) -> None:
        self._copies = deque((path, path.stat().st_size) for path in found)
        self.size = sum(size for _, size in self._copies)

    def keep(self, segment: Path) -> None:
        """Put a segment aside under the name of a copy. Raises OSError if the disk does not."""
        copy = segment.with_suffix(SUFFIX)
        size = segment.stat().st_size
        segment.rename(copy)
        self._copies.append((copy, size))
        self.size += size

    def shrink(self, most: int) -> None:
        """Drop the oldest until the others take no more than so many bytes; OSError as above."""
        while self._copies and self.size > most:
            copy, size = self._copies[0]
            if copy.exists():  # a person may have taken it away
                copy.unlink()
                DROPPED.inc()
                log.error("spool.damaged_copy_dropped", copy=copy.name, bytes=size)
            self._copies.popleft()
            self.size -= size
