"""Whether Slack sent a request: its signature over the raw bytes, made a moment ago."""

import hashlib
import hmac
import re
from collections.abc import Sequence
from datetime import datetime

WINDOW_SECONDS = 300
TIMESTAMP, SIGNATURE = "x-slack-request-timestamp", "x-slack-signature"

_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)


def genuine(
    secret: bytes,
    body: bytes,
    timestamps: Sequence[str],
    signatures: Sequence[str],
    now: datetime,
) -> bool:
    """Return whether the one signature of a request is right and its one time is near.

    Whatever else the headers hold is a no, never an error.
    """
    if len(timestamps) != 1 or len(signatures) != 1:
        return False
    at, signature = timestamps[0], signatures[0]
    if not _TIMESTAMP.fullmatch(at) or not _SIGNATURE.fullmatch(signature):
        return False
    wanted = sign(secret, body, at)
    right = hmac.compare_digest(wanted.encode(), signature.encode())
    return right and abs(now.timestamp() - int(at)) <= WINDOW_SECONDS


def sign(secret: bytes, body: bytes, timestamp: str) -> str:
    """Return the signature that Slack sends with these bytes at this time."""
    signed = b"v0:" + timestamp.encode() + b":" + body
    return f"v0={hmac.new(secret, signed, hashlib.sha256).hexdigest()}"
