"""What was read before: a sender that repeats itself does so byte for byte."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from tocsin_contracts import Alert

MOST_BYTES = 4 * 1024 * 1024
"""Of what is remembered together."""

ENTRY, ALERT = 1024, 3 * 1024
"""Bytes that a body and each of its alerts take beside their texts, however short those are."""

LARGEST = 64 * 1024
"""Bytes of a body that is worth it."""

_CODING = ("content-type", "content-encoding")

Key = tuple[str, str, str, bytes]


class Memo:
    """The alerts of the latest bodies, of senders whose alerts follow from their bodies alone."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._read: dict[Key, tuple[int, Sequence[Alert]]] = {}

    def key(self, sender: str, headers: Mapping[str, str], body: bytes) -> Key:
        """Return what tells one delivery from another; `sender` says who reads it, and how."""
        kind, coding = (headers.get(name, "") for name in _CODING)
        return sender, kind, coding, hashlib.sha256(body).digest()

    def get(self, key: Key) -> Sequence[Alert] | None:
        """Return what was made of a body, and remember it longer."""
        found = self._read.pop(key, None)
        if found is None:
            return None
        self._read[key] = found
        return found[1]

    def put(self, key: Key, size: int, alerts: Sequence[Alert], now: datetime) -> None:
        """Remember alerts, unless one ends later: it will not be read as firing then."""
        if size > LARGEST or any(one.ends_at and one.ends_at > now for one in alerts):
            return
        taken = ENTRY + ALERT * len(alerts) + 2 * size
        self._bytes += taken - self._read.pop(key, (0, ()))[0]
        self._read[key] = taken, alerts
        while self._bytes > self._most_bytes:
            self._bytes -= self._read.pop(next(iter(self._read)))[0]
