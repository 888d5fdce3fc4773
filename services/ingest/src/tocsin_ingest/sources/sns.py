"""What Amazon SNS wraps around a message, however it is delivered: HTTP, raw, Lambda or SQS."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_ingest.sources.fields import decoded

HANDSHAKES = ("SubscriptionConfirmation", "UnsubscribeConfirmation")
"""Messages about a subscription; they tell of no alert, and no address in them is ever visited."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its content, decoded where it is JSON, and what its envelope says."""

    content: Any
    subject: str = ""
    topic: str = ""
    at: str = ""


def messages(payload: Any) -> Iterator[Message]:
    """Yield every message of a body; a body without an envelope is the message itself."""
    if not isinstance(payload, Mapping):
        yield Message(content=payload)
    elif isinstance(payload.get("Records"), list):
        for record in payload["Records"]:
            inner = record if isinstance(record, Mapping) else {}
            yield from messages(inner.get("Sns") or decoded(inner.get("body")))
    elif payload.get("Type") in HANDSHAKES:
        return
    elif "Message" in payload:
        yield Message(
            content=decoded(payload["Message"]),
            subject=_text(payload.get("Subject")),
            topic=_text(payload.get("TopicArn")),
            at=_text(payload.get("Timestamp")),
        )
    else:
        yield Message(content=payload)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
