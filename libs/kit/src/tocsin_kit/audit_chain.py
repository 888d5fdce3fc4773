"""A chain of entries of which each covers the one before, so that none can be changed unseen: pure.

Whoever can write to the store can make a whole chain anew. With a key, which is kept elsewhere,
they cannot seal it; without one its newest hash has to be known from elsewhere, such as the log.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from tocsin_contracts import Event
from tocsin_contracts.base import Value
from tocsin_kit.errors import PermanentError

SHORTEST_KEY = 32
"""Bytes of a key."""


class Entry(Value):
    """What one fact says, and its place in the chain."""

    number: int = Field(ge=1)
    fact: int = Field(description="Number of the fact in the stream.")
    event: str = Field(description="Id of the fact.")
    topic: str
    body: str = Field(description="The fact as JSON.")
    before: str = Field(description="Hash of the entry before; empty for the first.")
    hash: str = ""
    seal: str = Field(default="", description="HMAC-SHA256 of the hash, where a key is set.")

    def digest(self) -> str:
        """Return the hash that belongs to all that it says."""
        told = self.model_dump(exclude={"hash", "seal"})
        text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


class Key:
    """Seals hashes."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < SHORTEST_KEY:
            raise PermanentError(
                f"the audit's key has {len(secret)} bytes: it needs at least {SHORTEST_KEY}"
            )
        self._secret = secret

    @classmethod
    def read(cls, path: str) -> "Key | None":
        """Read a key from a file; None without one. PermanentError if it cannot be used."""
        if not path:
            return None
        try:
            return cls(Path(path).read_bytes().strip())
        except OSError as error:
            raise PermanentError(
                f"TOCSIN_AUDIT_KEY_FILE: cannot read {path!r}: {error.strerror}"
            ) from error

    def seal(self, digest: str) -> str:
        """Return the seal of a hash."""
        return hmac.new(self._secret, digest.encode(), hashlib.sha256).hexdigest()

    def sealed(self, entry: Entry) -> bool:
        """Return whether the seal of an entry was made with this key."""
        return hmac.compare_digest(self.seal(entry.hash), entry.seal)


class Fault(StrEnum):
    """What is wrong with an entry."""

    UNREADABLE = "it cannot be read"
    GAP = "an entry before it is missing"
    CHANGED = "it was changed: its hash is another one"
    CUT_OFF = "it does not follow the entry before it"
    UNSEALED = "its seal was not made with this key"
    NOT_THE_FACT = "the stream tells another fact of this id"
    MISSING = "a fact of the stream is not in the audit"


class Broken(Value):
    """The first place where something is wrong; `event` is the fact, if one is known."""

    number: int
    fault: Fault
    event: str = ""


def linked(before: Entry | None, fact: int, event: Event, key: Key | None) -> Entry:
    """Return the entry of a fact behind another entry."""
    entry = Entry(
        number=before.number + 1 if before else 1,
        fact=fact,
        event=event.id,
        topic=event.topic,
        body=event.model_dump_json(),
        before=before.hash if before else "",
    )
    digest = entry.digest()
    return entry.model_copy(update={"hash": digest, "seal": key.seal(digest) if key else ""})


def broken(entries: Iterable[Entry], key: Key | None = None) -> Broken | None:
    """Return the first broken link of a chain that is told from its beginning; None if it holds."""
    before: Entry | None = None
    for entry in entries:
        if fault := _fault(before, entry, key):
            return Broken(number=entry.number, fault=fault, event=entry.event)
        before = entry
    return None


def _fault(before: Entry | None, entry: Entry, key: Key | None) -> Fault | None:
    number, digest = (before.number, before.hash) if before else (0, "")
    if entry.number != number + 1:
        return Fault.GAP
    if not hmac.compare_digest(entry.digest(), entry.hash):
        return Fault.CHANGED
    if entry.before != digest:
        return Fault.CUT_OFF
    if key and not key.sealed(entry):
        return Fault.UNSEALED
    return None
