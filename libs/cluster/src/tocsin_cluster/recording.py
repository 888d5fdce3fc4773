"""Read a recorded cluster from its folder, and tell cheaply whether the folder has changed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from tocsin_cluster import bundle, reading
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.events import ClusterEvent, read_event
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.merging import merged
from tocsin_cluster.port import Usage
from tocsin_cluster.printed import Printed
from tocsin_cluster.secrets import without_values
from tocsin_contracts import ObjectRef

_OBJECTS = (".yaml", ".yml", ".json")
_LOGS = (".log",)


@dataclass(frozen=True, slots=True)
class Mark:
    """One file as it was when the recording was read; `changed` is in nanoseconds."""

    path: Path
    changed: int
    size: int


@dataclass(frozen=True, slots=True)
class Recording:
    """All that was recorded, the values of Secrets left out; events come in the order of time."""

    folder: Path
    marks: frozenset[Mark]
    objects: Mapping[ObjectRef, Manifest]
    events: tuple[ClusterEvent, ...]
    usage: tuple[Usage, ...]
    texts: tuple[Printed, ...]

    @property
    def at(self) -> datetime | None:
        """When its newest file was written; None for an empty folder."""
        newest = max((mark.changed for mark in self.marks), default=None)
        return None if newest is None else datetime.fromtimestamp(newest / 1e9, UTC)

    def renewed(self) -> "Recording":
        """Return this recording, or the one that the folder holds by now."""
        return self if _marks(self.folder) == self.marks else read(self.folder)


def read(folder: Path) -> Recording:
    """Read a folder; ClusterError names the file that holds something else than objects."""
    marks = _marks(folder)
    paths = sorted(mark.path for mark in marks)
    index, texts, files = _sorted_out(folder, paths)
    found = [without_values(manifest) for path in files for manifest in _manifests(path)]
    told = (manifest.ref.namespace for manifest in found)
    read = reading.read(texts, bundle.home(texts, index, told))
    events = [read_event(manifest) for manifest in found if manifest.ref.kind == "Event"]
    kept = merged((*read.listed, *read.objects, *(one for one in found if one.ref.kind != "Event")))
    in_order = tuple(sorted([*events, *read.events], key=_time))
    return Recording(folder, marks, kept, in_order, read.usage, read.texts)


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


def _marks(folder: Path) -> frozenset[Mark]:
    if not folder.is_dir():
        raise ClusterError(f"no snapshot at {str(folder)!r}: give a folder of recorded objects")
    named = (
        path
        for path in folder.rglob("*")
        if path.suffix in _OBJECTS + _LOGS or bundle.is_text(path, folder)
    )
    try:
        found = [(path, path.stat()) for path in named if path.is_file()]
    except OSError as error:
        raise ClusterError(f"cannot look through {str(folder)!r}: {error}; ask again") from error
    return frozenset(Mark(path, status.st_mtime_ns, status.st_size) for path, status in found)


def _manifests(path: Path) -> Iterator[Manifest]:
    try:
        data = path.read_bytes()
        documents = list(yaml.load_all(data, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise ClusterError(f"cannot read {str(path)!r}: {error}; record it again") from error
    if not data:
        raise ClusterError(f"{str(path)!r} is empty: it is being written, or the recording failed")
    for document in documents:
        if document is not None:
            yield from _flatten(document, path)


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
