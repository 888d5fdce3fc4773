"""A recorded cluster: a folder of objects as kubectl prints them, and of logs.

<folder>/**/*.yaml, *.yml, *.json                      objects, Lists of them, and Events
<folder>/logs/<namespace>/<pod>/<container>.log        the current log
<folder>/logs/<namespace>/<pod>/<container>.previous.log
<folder>/**/*.txt, *.log, *.out                        what a command printed; see bundle.py
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from tocsin_cluster import recording
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import EVERYWHERE, Usage
from tocsin_cluster.printed import Printed
from tocsin_cluster.recording import Recording
from tocsin_contracts import ObjectRef
from tocsin_kit.untrusted import MARK

LONGEST_LOG = 500_000
"""Bytes of a log that are read, half of them from its end."""


class SnapshotCluster:
    """Answers from a folder as it is when asked: one that was recorded anew is read anew.

    The values of Secrets are dropped while it is read. ClusterError if there is no such folder.
    """

    source = "snapshot"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._recording = recording.read(folder)
        self._one_looks = asyncio.Lock()
        self._next: asyncio.Future[Recording] | None = None

    @property
    def recorded_at(self) -> datetime | None:
        """When the newest file of what was read last was written."""
        return self._recording.at

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Return one recorded object, or None."""
        return (await self._read()).objects.get(ref)

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Return the recorded objects of a kind, in the order of their names."""
        wanted = (labels or {}).items()
        found = (
            manifest
            for ref, manifest in (await self._read()).objects.items()
            if ref.kind == kind and _in(ref, namespace) and wanted <= manifest.labels.items()
        )
        return tuple(sorted(found, key=lambda manifest: manifest.ref.name))

    async def events(self, ref: ObjectRef) -> tuple[ClusterEvent, ...]:
        """Return the recorded events about an object."""
        return tuple(event for event in (await self._read()).events if event.about == ref)

    async def events_in(self, namespace: str) -> tuple[ClusterEvent, ...]:
        """Return the recorded events about the objects of a namespace."""
        events = (await self._read()).events
        return tuple(event for event in events if _in(event.about, namespace))

    async def usage(self, namespace: str) -> tuple[Usage, ...]:
        """Return what was measured when it was recorded."""
        usage = (await self._read()).usage
        return tuple(one for one in usage if _in(one.about, namespace))

    async def printed(self) -> tuple[Printed, ...]:
        """Return the recorded texts."""
        return (await self._read()).texts

    async def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False
    ) -> str | None:
        """Return a recorded log; bytes that are not UTF-8 become replacement characters."""
        name = f"{container}.previous.log" if previous else f"{container}.log"
        if not all(_is_plain(part) for part in (namespace, pod, container)):
            raise ClusterError(f"no log for {namespace!r}/{pod!r}/{container!r}: not names")
        await self._read()
        file = self._folder / "logs" / namespace / pod / name
        return await asyncio.to_thread(_read_log, file, self._folder)

    async def _read(self) -> Recording:
        """Look at the folder again; all who ask while another looks share the next look."""
        if self._next is None or self._next.done():
            self._next = asyncio.ensure_future(self._look())
        return await asyncio.shield(self._next)

    async def _look(self) -> Recording:
        async with self._one_looks:
            self._next = None  # whoever asks from now on must see what changes from now on
            self._recording = await asyncio.to_thread(self._recording.renewed)
            return self._recording


def _in(ref: ObjectRef, namespace: str) -> bool:
    return namespace in (EVERYWHERE, ref.namespace)


def _read_log(path: Path, folder: Path) -> str | None:
    """Read a log, of a long one the beginning and the end; None for one out of the folder."""
    try:
        if not recording.is_inside(path, folder) or not path.is_file():
            return None
        with path.open("rb") as file:
            size = path.stat().st_size
            if size <= LONGEST_LOG:
                return file.read(LONGEST_LOG).decode(errors="replace")
            first = file.read(LONGEST_LOG // 2)
            file.seek(size - LONGEST_LOG // 2)
            return (first + MARK.encode() + file.read(LONGEST_LOG // 2)).decode(errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ClusterError(f"cannot read the log {str(path)!r}: {error}") from error


def _is_plain(name: str) -> bool:
    return bool(name) and name not in (".", "..") and not set(name) & {"/", "\\", "\0"}
