"""A whole deployment in one folder: its streams first, then its store, checksummed.

In this order nothing is lost while services run: what the store knows, the bus has. What a
consumer gets again after a restore, its run has done already.
"""

import hashlib
import shutil
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from nats.aio.client import Client
from nats.errors import Error as NatsError
from pydantic import AwareDatetime, ValidationError
from redis.asyncio import Redis

from tocsin_contracts.base import Value
from tocsin_kit import backup_store, backup_streams, keys, store
from tocsin_kit.backup_streams import KEPT, SavedStream
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.ensure import connected
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.heartbeat import heartbeats
from tocsin_kit.status import SILENT_AFTER

FORMAT = 1
MANIFEST = "backup.json"
STORE = "store.jsonl"
_PIECE = 1024 * 1024


class Backup(Value):
    """What a folder holds; `digests` are the SHA-256 sums of its files."""

    format: int
    version: str
    at: AwareDatetime
    prefix: str
    streams: tuple[SavedStream, ...]
    messages: int
    keys: int
    digests: dict[str, str]


async def back_up(
    nats_url: str, redis_url: str, folder: Path, *, prefix: str, clock: Clock | None = None
) -> Backup:
    """Save everything into a new folder, also while services run.

    Raises PermanentError for a folder that exists, TransientError if bus or store do not answer.
    Until it is whole the folder has `.part` at its end.
    """
    part = _begun(folder)
    keys.use_prefix(prefix)
    try:
        now = (clock or SystemClock()).now()
        found = await _saved(nats_url, redis_url, part, prefix, now)
        (part / MANIFEST).write_text(found.model_dump_json(indent=2), encoding="utf-8")
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return found


async def restore(
    nats_url: str, redis_url: str, folder: Path, *, prefix: str, force: bool = False
) -> Backup:
    """Put a folder back, where no process of Tocsin runs.

    Everything is checked before anything is touched. Raises PermanentError for a damaged folder,
    for bus or store that hold something (with `force` that is lost), and while processes run.
    """
    found = _read(folder)
    keys.use_prefix(prefix)
    if found.prefix != prefix:
        raise PermanentError(
            f"it was saved with the prefix {found.prefix!r}: set TOCSIN_REDIS_PREFIX to that"
        )
    async with connected(nats_url) as bus, store.connect(redis_url, text=False) as client:
        await _refuse_living(redis_url)
        if not force:
            await _refuse_filled(bus, client)
        try:
            for one in found.streams:
                await backup_streams.restore(bus, one, *_files(folder, one.name))
        except (NatsError, TimeoutError) as error:
            raise TransientError(f"the bus did not take everything: {error!r}") from error
        await backup_store.clear(client)
        await backup_store.restore(client, folder / STORE)
    return found


async def _saved(nats_url: str, redis_url: str, part: Path, prefix: str, at: datetime) -> Backup:
    async with connected(nats_url) as bus, store.connect(redis_url, text=False) as client:
        try:
            streams = [await backup_streams.save(bus, n, _files(part, n)[0]) for n in KEPT]
            count = await backup_store.save(client, part / STORE)
            tails = [
                await backup_streams.save_tail(bus, one, _files(part, one.name)[1])
                for one in streams
            ]
        except (NatsError, TimeoutError) as error:
            raise TransientError(f"the bus did not give everything: {error!r}") from error
    return Backup(
        format=FORMAT,
        version=version("tocsin-kit"),
        at=at,
        prefix=prefix,
        streams=tuple(streams),
        messages=sum(int(one.state["messages"]) for one in streams) + sum(tails),
        keys=count,
        digests=_digests(part),
    )


def _begun(folder: Path) -> Path:
    part = folder.with_name(f"{folder.name}.part")
    if folder.exists() or part.exists():
        raise PermanentError(f"{str(folder)!r} exists, or a part of it; name another folder")
    part.mkdir(mode=0o700, parents=True)
    return part


def _read(folder: Path) -> Backup:
    try:
        found = Backup.model_validate_json((folder / MANIFEST).read_bytes())
        wrong = [name for name, sum_ in found.digests.items() if _digest(folder / name) != sum_]
    except (OSError, ValidationError) as error:
        raise PermanentError(f"{str(folder)!r} is no whole backup: {error}") from error
    if wrong:
        raise PermanentError(f"{str(folder)!r} is damaged: {', '.join(wrong)}")
    if found.format != FORMAT:
        raise PermanentError(f"{str(folder)!r} has the format {found.format}, not {FORMAT}")
    return found


async def _refuse_living(redis_url: str) -> None:
    async with store.connect(redis_url) as client:
        told = await heartbeats(client)
    living = [one.beat.instance for one in told if one.age < SILENT_AFTER]
    if living:
        raise PermanentError(f"these processes run: {', '.join(living)}; stop them first")


async def _refuse_filled(bus: Client, client: Redis) -> None:
    filled = [name for name in KEPT if await backup_streams.holds(bus, name)]
    filled += [] if await backup_store.is_empty(client) else ["the store"]
    if filled:
        raise PermanentError(
            f"there is something in {', '.join(filled)}; with --force it is lost for what was saved"
        )


def _files(folder: Path, stream: str) -> tuple[Path, Path]:
    return folder / f"{stream}.snapshot", folder / f"{stream}.tail.jsonl"


def _digests(folder: Path) -> dict[str, str]:
    return {path.name: _digest(path) for path in sorted(folder.iterdir())}


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as content:
        while piece := content.read(_PIECE):
            found.update(piece)
    return found.hexdigest()
