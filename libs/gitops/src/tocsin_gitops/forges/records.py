"""Write pull-request records so that each exists once and whole, whoever else writes."""

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tocsin_gitops import pulls
from tocsin_gitops.pulls import Comment, PullRequest
from tocsin_kit.errors import PermanentError


def create(file: Path, pull: PullRequest) -> PullRequest:
    """Store the pull request under the next free number; the one that is there already wins.

    The record is on disk, or not there at all, whenever the machine stops.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with _alone(file.parent):
        known = pulls.read(file)
        if known is not None:
            return known
        numbered = pull.model_copy(update={"number": _next_number(file.parent)})
        _write_record(file, numbered)
        return numbered


def update(file: Path, changes: Mapping[str, str]) -> PullRequest:
    """Change fields of a record and return it; PermanentError if it is gone."""
    with _alone(file.parent):
        known = pulls.read(file)
        if known is None:
            raise PermanentError(f"{str(file)!r} is gone; a pull request is never made anew")
        changed = known.model_copy(update=dict(changes))
        if changed != known:
            _write_record(file, changed)
        return changed


def comment(file: Path, said: Comment, marker: str) -> Comment:
    """Store a comment, unless its author has written one that ends so before; return that."""
    with _alone(file.parent):
        known = pulls.comments(file)
        for one in known:
            if one.author == said.author and one.body.rstrip().endswith(marker):
                return one
        numbered = said.model_copy(update={"id": str(len(known) + 1)})
        lines = (one.model_dump_json() + "\n" for one in (*known, numbered))
        _write(pulls.comments_file(file), "".join(lines).encode())
        return numbered


def _write_record(file: Path, pull: PullRequest) -> None:
    _write(file, pull.model_dump_json(indent=2).encode() + b"\n")


def _next_number(folder: Path) -> int:
    taken = (pulls.read(file) for file in folder.glob("*.json"))
    return max((pull.number for pull in taken if pull), default=0) + 1


def _write(file: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".new-")
    with os.fdopen(handle, "wb") as temporary:
        temporary.write(data)
        temporary.flush()
        os.fsync(temporary.fileno())
    Path(name).replace(file)
    _sync(file.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
