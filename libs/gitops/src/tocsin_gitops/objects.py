"""What git answers in bulk, read without guessing: trees, blobs and logs."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

_FIELDS = ("/%H", "%P", "%an", "%at", "%s")
LOG_FORMAT = "%x00".join((*_FIELDS, ""))


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a tree; submodules have no size and are of type commit."""

    path: str
    mode: str
    type: str
    oid: str
    size: int


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; `parent` is the first one, empty for a root. The text in it is untrusted."""

    sha: str
    parent: str
    author: str
    at: datetime
    subject: str
    files: tuple[str, ...]


def tree(listing: bytes) -> Iterator[TreeEntry]:
    """Read `ls-tree -r -l -z`; paths that are not UTF-8 are left out, no manifest has one."""
    for line in listing.split(b"\0")[:-1]:
        head, _, raw = line.partition(b"\t")
        mode, kind, oid, size = head.decode().split()
        path = raw.decode(errors="replace")
        if path.encode() == raw:
            yield TreeEntry(path, mode, kind, oid, int(size) if size.isdigit() else 0)


def blobs(batch: bytes, count: int) -> tuple[bytes | None, ...]:
    """Read `cat-file --batch`; None for what is missing or no blob."""
    found: list[bytes | None] = []
    position = 0
    for _ in range(count):
        end = batch.index(b"\n", position)
        kind, size = _header(batch[position:end])
        position = end + 1
        found.append(batch[position : position + size] if kind == b"blob" else None)
        position += size + 1 if kind else 0
    return tuple(found)


def log(output: bytes) -> tuple[Commit, ...]:
    """Read `log -z --name-only` in the format above, whatever the messages hold."""
    tokens = output.decode(errors="replace").split("\0")
    bounds = pairwise((*_starts(tokens), len(tokens)))
    return tuple(_commit(tokens[begin:end]) for begin, end in bounds)


def _header(line: bytes) -> tuple[bytes, int]:
    name, _, size = line.rpartition(b" ")
    if not size.isdigit():
        return b"", 0
    return name.rpartition(b" ")[2], int(size)


def _starts(tokens: list[str]) -> Iterator[int]:
    """A record begins with a slash, as no path does; the fields after it are skipped unread."""
    position = 0
    while position < len(tokens):
        begins = tokens[position].startswith("/")
        if begins:
            yield position
        position += len(_FIELDS) if begins else 1


def _commit(tokens: list[str]) -> Commit:
    sha, parents, author, seconds, subject, *names = tokens
    files = tuple(name.removeprefix("\n") for name in names if name)
    at = datetime.fromtimestamp(int(seconds or 0), UTC)
    return Commit(sha[1:], parents.partition(" ")[0], author, at, subject, files)
