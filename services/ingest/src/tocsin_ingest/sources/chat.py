"""A person, or their assistant, says in a few words what is wrong: `POST /chat`."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import StringConstraints

from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.reading import Sent, read, texts

HEADER = "idempotency-key"
LONGEST_KEY = 255
TITLE = 120
"""Characters of the message that stand in for a title."""

_WORDS = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Message(Sent):
    """What is said; labels and clusters tell where to look."""

    message: _WORDS
    title: str | None = None
    severity: str | None = None
    labels: dict[str, Any] | None = None
    clusters: list[_WORDS] | None = None


class Chat:
    """Makes one alert of one message; the same key again, or the same words at once, is the same.

    One cluster is where to look, as the label `cluster` says it; several are only kept.
    """

    name = "chat"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert; the idempotency key is a header, `Idempotency-Key`."""
        said = read(Message, delivery.payload, "a message with the field `message`")
        labels, clusters = texts(said.labels or {}), said.clusters or []
        if len(clusters) == 1:
            labels.setdefault("cluster", clusters[0])
        others = {"clusters": ", ".join(clusters)} if len(clusters) > 1 else {}
        return [
            Reading(
                title=(said.title or "").strip() or _title(said.message),
                severity=said.severity or "",
                summary=said.message,
                labels=labels,
                annotations={"message": said.message, **others},
                key=_given(delivery) or _said(said.message, labels, delivery.received_at),
            )
        ]


def _given(delivery: Delivery) -> str:
    key = delivery.headers.get(HEADER, "").strip()
    if len(key) > LONGEST_KEY:
        raise BadPayloadError(f"the header Idempotency-Key is over {LONGEST_KEY} characters")
    return f"key {key}" if key else ""


def _said(message: str, labels: Mapping[str, str], at: datetime) -> str:
    """Without a key the same words with the same labels in a minute are one message."""
    minute = at.replace(second=0, microsecond=0).isoformat()
    text = json.dumps([message, labels, minute], sort_keys=True)
    return f"text {hashlib.sha256(text.encode()).hexdigest()}"


def _title(message: str) -> str:
    first = message.splitlines()[0].strip()
    return first if len(first) <= TITLE else f"{first[: TITLE - 1]}…"
