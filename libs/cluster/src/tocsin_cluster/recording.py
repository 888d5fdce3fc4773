"""Read a recorded cluster from its folder, and tell cheaply whether the folder has changed."""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tocsin_cluster import bundle, reading
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.events import ClusterEvent, read_event
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.merging import merged
from tocsin_cluster.port import Usage
from tocsin_cluster.printed import Printed
from tocsin_cluster.sanity import is_sane
from tocsin_cluster.secrets import without_values
from tocsin_contracts import ObjectRef

_OBJECTS = (".yaml", ".yml", ".json")
_LOGS = (".log",)


class Mark(NamedTuple):
    """One file as it was when the recording was read; `changed` is in nanoseconds."""

    path: str
    changed: int
    size: int


@dataclass(frozen=True, slots=True)
class Recording:
    """All that was recorded, the values of Secrets left out; events come in the order of time.

    `at` is when its newest file was written; None if there is none.
    """

    folder: Path
    marks: frozenset[Mark]
    at: datetime | None
    objects: Mapping[ObjectRef, Manifest]
    events: tuple[ClusterEvent, ...]
    usage: tuple[Usage, ...]
    texts: tuple[Printed, ...]

    def renewed(self) -> "Recording":
        """Return this recording, or the one that the folder holds by now."""
        return self if _marks(self.folder) == self.marks else read(self.folder)


def read(folder: Path) -> Recording:
    """Read a folder; ClusterError names the file that holds something else than objects."""
    marks = _marks(folder)
    written = {Path(m.path): m.changed for m in marks if _is_read(Path(m.path), folder)}
    at = datetime.fromtimestamp(max(written.values()) / 1e9, UTC) if written else None
    index, texts, files = _sorted_out(folder, sorted(written))
    found = [without_values(manifest) for path in files for manifest in _manifests(path)]
    told = (manifest.ref.namespace for manifest in found)
    read = reading.read(texts, bundle.home(texts, index, told))
    events = [read_event(manifest) for manifest in found if manifest.ref.kind == "Event"]
    kept = merged((*read.listed, *read.objects, *(one for one in found if one.ref.kind != "Event")))
    in_order = tuple(sorted([*events, *read.events], key=_time))
    return Recording(folder, marks, at, kept, in_order, read.usage, read.texts)


def _sorted_out(
    folder: Path, paths: Iterable[Path]
) -> tuple[bundle.Index, list[Printed], list[Path]]:
    index, texts, files = bundle.Index({}), list[Path](), list[Path]()
    for path in paths:
        if bundle.is_index(path, folder):
            index = bundle.read_index(path)
        elif bundle.is_text(path, folder):
            texts.append(path)
        elif path.suffix in _OBJECTS:
            files.append(path)
    return index, [text for path in texts for text in bundle.read_texts(path, folder, index)], files


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a file is really below the folder: what somebody sent may link to anything."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def _marks(folder: Path) -> frozenset[Mark]:
    """Look at every file; it is done at each question, so nothing is read and little is made."""
    if not folder.is_dir():
        raise ClusterError(f"no snapshot at {str(folder)!r}: give a folder of recorded objects")
    try:
        found = [(entry.path, entry.stat()) for entry in _files(folder)]
    except OSError as error:
        raise ClusterError(f"cannot look through {str(folder)!r}: {error}; ask again") from error
    return frozenset(Mark(path, status.st_mtime_ns, status.st_size) for path, status in found)


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    left = [str(folder)]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                elif _is_ours(entry, folder):
                    yield entry


def _is_ours(entry: os.DirEntry[str], folder: Path) -> bool:
    return (not entry.is_symlink() or is_inside(Path(entry.path), folder)) and entry.is_file()


def _is_read(path: Path, folder: Path) -> bool:
    return path.suffix in _OBJECTS + _LOGS or bundle.is_text(path, folder)


def _manifests(path: Path) -> Iterator[Manifest]:
    try:
        data = path.read_bytes()
        documents = _documents(path, data)
    except (yaml.YAMLError, ValueError, RecursionError, OSError) as error:
        raise ClusterError(f"cannot read {str(path)!r}: {error}; record it again") from error
    if not data:
        raise ClusterError(f"{str(path)!r} is empty: it is being written, or the recording failed")
    for document in documents:
        if not is_sane(document):
            raise ClusterError(f"{str(path)!r} is deeper or repeats more than any object does")
        if document is not None:
            yield from _flatten(document, path)


def _documents(path: Path, data: bytes) -> list[Any]:
    """Return what a file holds; JSON is YAML too, but read as JSON in a hundredth of the time."""
    if path.suffix == ".json":
        with contextlib.suppress(ValueError):
            return [json.loads(data)]
    return list(yaml.load_all(data, Loader=yaml.CSafeLoader))


def _flatten(document: Any, path: Path) -> Iterator[Manifest]:
    if not isinstance(document, Mapping) or not isinstance(document.get("kind"), str):
        raise ClusterError(f"{str(path)!r} holds something that is no Kubernetes object")
    if isinstance(document.get("items"), list) and document["kind"].endswith("List"):
        for item in document["items"]:
            kind = document["kind"].removesuffix("List")
            yield from _flatten({"kind": kind, **item} if isinstance(item, Mapping) else item, path)
        return
    if not Manifest(document).ref.name:
        raise ClusterError(f"{str(path)!r} holds a {document['kind']} without a name")
    yield Manifest(document)


def _time(event: ClusterEvent) -> float:
    return event.last_seen.timestamp() if event.last_seen else 0
