"""Streams to files and back: the server's own snapshot, and what was stored while it was made.

A snapshot keeps numbers, times, and how far every consumer is. Facts that follow it are kept one
by one, so that the store, which is saved later, never knows more than the bus.
"""

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from nats.aio.client import Client
from nats.js.errors import NotFoundError

from tocsin_contracts.base import Value
from tocsin_kit.errors import PermanentError
from tocsin_kit.topology import FACTS, PARKED, TIMERS

KEPT = (FACTS, TIMERS, PARKED)
"""Streams that are saved; the canary's holds nothing."""

ANSWER_SECONDS = 30.0
CHUNK = 128 * 1024
END = "204"
_OF_THE_SERVER = ("Nats-Scheduler", "Nats-Schedule-Next")


class SavedStream(Value):
    """What the server said of a stream when it was saved, in its own words."""

    name: str
    config: dict[str, Any]
    state: dict[str, Any]

    @property
    def newest(self) -> int:
        """The number of the last message of the snapshot."""
        return int(self.state["last_seq"])


async def save(client: Client, name: str, file: Path) -> SavedStream:
    """Write a snapshot of a stream and its consumers. PermanentError if the server refuses it."""
    inbox = client.new_inbox()
    chunks = await client.subscribe(inbox)
    try:
        wanted = {"deliver_subject": inbox, "no_consumers": False, "chunk_size": CHUNK}
        head = await _ask(client, f"$JS.API.STREAM.SNAPSHOT.{name}", wanted)
        with file.open("xb") as out:
            while chunk := await chunks.next_msg(timeout=ANSWER_SECONDS):
                if not chunk.data:
                    _ended(name, (chunk.headers or {}).get("Status", END))
                    break
                out.write(chunk.data)
                if chunk.reply:
                    await chunk.respond(b"")
    finally:
        await chunks.unsubscribe()
    return SavedStream(name=name, config=head["config"], state=head["state"])


async def save_tail(client: Client, saved: SavedStream, file: Path) -> int:
    """Write what was stored after the snapshot, a line for each message; returns how many."""
    js, count = client.jetstream(timeout=ANSWER_SECONDS), 0
    last = (await js.stream_info(saved.name)).state.last_seq
    with file.open("x", encoding="utf-8") as out:
        for number in range(saved.newest + 1, last + 1):
            try:
                found = await js.get_msg(saved.name, number)
            except NotFoundError:
                continue
            line = {
                "subject": found.subject,
                "headers": dict(found.headers or {}),
                "data": base64.b64encode(found.data or b"").decode(),
            }
            out.write(json.dumps(line) + "\n")
            count += 1
    return count


async def restore(client: Client, saved: SavedStream, file: Path, tail: Path) -> None:
    """Make the stream again in place of one of its name. PermanentError if the server refuses."""
    js = client.jetstream(timeout=ANSWER_SECONDS)
    if await holds(client, saved.name) is not None:
        await js.delete_stream(saved.name)
    wanted = {"config": saved.config, "state": saved.state}
    subject = (await _ask(client, f"$JS.API.STREAM.RESTORE.{saved.name}", wanted))[
        "deliver_subject"
    ]
    with file.open("rb") as content:
        while chunk := content.read(CHUNK):
            await client.request(subject, chunk, timeout=ANSWER_SECONDS)
    _checked(subject, (await client.request(subject, b"", timeout=ANSWER_SECONDS)).data)
    async for line in _lines(tail):
        headers = {k: v for k, v in line["headers"].items() if k not in _OF_THE_SERVER}
        await js.publish(line["subject"], base64.b64decode(line["data"]), headers=headers)


async def holds(client: Client, name: str) -> int | None:
    """Return how many messages a stream holds; None if there is no such stream."""
    try:
        return (await client.jetstream(timeout=ANSWER_SECONDS).stream_info(name)).state.messages
    except NotFoundError:
        return None


async def _lines(file: Path) -> AsyncIterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


async def _ask(client: Client, subject: str, wanted: dict[str, Any]) -> dict[str, Any]:
    answer = await client.request(subject, json.dumps(wanted).encode(), timeout=ANSWER_SECONDS)
    return _checked(subject, answer.data)


def _checked(subject: str, data: bytes) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(data)
    if "error" in told:
        raise PermanentError(f"the bus refuses {subject!r}: {told['error'].get('description')}")
    return told


def _ended(name: str, status: str) -> None:
    if status != END:
        raise PermanentError(f"the bus gave the snapshot of stream {name!r} up: status {status}")
