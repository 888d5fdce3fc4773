"""A recorded cluster: a folder of objects as kubectl prints them, and of logs.

<folder>/**/*.yaml, *.yml, *.json                      objects, Lists of them, and Events
<folder>/logs/<namespace>/<pod>/<container>.log        the current log
<folder>/logs/<namespace>/<pod>/<container>.previous.log
"""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.events import ClusterEvent, read_event
from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ObjectRef

_SUFFIXES = (".yaml", ".yml", ".json")
_NEVER = "Secret"


class SnapshotCluster:
    """Answers from a folder. Secrets in it are dropped while it is read."""

    source = "snapshot"

    def __init__(self, folder: Path) -> None:
        self._logs = folder / "logs"
        self._objects: dict[ObjectRef, Manifest] = {}
        self._events: list[ClusterEvent] = []
        for manifest in _read(folder):
            self._keep(manifest)
        self._events.sort(key=lambda event: event.last_seen.timestamp() if event.last_seen else 0)

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Return one recorded object, or None."""
        _refuse_secrets(ref.kind)
        return self._objects.get(ref)

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Return the recorded objects of a kind, in the order of their names."""
        _refuse_secrets(kind)
        wanted = (labels or {}).items()
        found = (
            manifest
            for ref, manifest in self._objects.items()
            if (ref.kind, ref.namespace) == (kind, namespace) and wanted <= manifest.labels.items()
        )
        return tuple(sorted(found, key=lambda manifest: manifest.ref.name))

    async def events(self, ref: ObjectRef) -> tuple[ClusterEvent, ...]:
        """Return the recorded events about an object."""
        return tuple(event for event in self._events if event.about == ref)

    async def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False
    ) -> str | None:
        """Return a recorded log; bytes that are not UTF-8 become replacement characters."""
        name = f"{container}.previous.log" if previous else f"{container}.log"
        if not all(_is_plain(part) for part in (namespace, pod, container)):
            raise ClusterError(f"no log for {namespace!r}/{pod!r}/{container!r}: not names")
        return await asyncio.to_thread(_read_log, self._logs / namespace / pod / name)

    def _keep(self, manifest: Manifest) -> None:
        if manifest.ref.kind == "Event":
            self._events.append(read_event(manifest))
        elif manifest.ref.kind != _NEVER:
            self._objects[manifest.ref] = manifest


def _read(folder: Path) -> Iterator[Manifest]:
    if not folder.is_dir():
        raise ClusterError(f"no snapshot at {str(folder)!r}: give a folder of recorded objects")
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            yield from _read_file(path)


def _read_file(path: Path) -> Iterator[Manifest]:
    try:
        documents = list(yaml.load_all(path.read_bytes(), Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise ClusterError(f"cannot read {str(path)!r}: {error}; record it again") from error
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


def _read_log(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ClusterError(f"cannot read the log {str(path)!r}: {error}") from error


def _is_plain(name: str) -> bool:
    return bool(name) and name not in (".", "..") and not set(name) & {"/", "\\", "\0"}


def _refuse_secrets(kind: str) -> None:
    if kind == _NEVER:
        raise ClusterError("Secrets are never read; ask for another kind")
