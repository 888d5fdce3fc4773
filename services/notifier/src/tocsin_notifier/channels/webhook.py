"""Messages as signed posts of JSON by Standard Webhooks; `text` is what chat systems read."""

import base64
import binascii
import hashlib
import hmac
import html
from collections.abc import Sequence
from datetime import datetime

from pydantic import SecretStr

from tocsin_kit.errors import PermanentError
from tocsin_notifier.hooks import Hook, encoded
from tocsin_notifier.layout import uncalling
from tocsin_notifier.ports import Message

PREFIX = "whsec_"
SHORTEST, LONGEST = 24, 64
"""Bytes of a signing secret."""


class WebhookChannel:
    """Posts each message to one address. Of two secrets both sign, while one replaces the other."""

    def __init__(self, name: str, hook: Hook, secrets: Sequence[bytes] = ()) -> None:
        self.name = name
        self._hook = hook
        self._secrets = tuple(secrets)

    async def send(self, message: Message) -> None:
        """Show the message; a refusal that will not change is a PermanentError."""
        now = self._hook.clock.now()
        body = encoded(_body(message, now))
        sent = {
            "webhook-id": message.id,
            "webhook-timestamp": str(int(now.timestamp())),
            "idempotency-key": message.id,
        }
        if self._secrets:
            signed = f"{sent['webhook-id']}.{sent['webhook-timestamp']}.".encode() + body
            sent["webhook-signature"] = " ".join(_sign(secret, signed) for secret in self._secrets)
        await self._hook.post(body, headers=sent)


def keys(secrets: SecretStr | None, where: str) -> tuple[bytes, ...]:
    """Read one signing secret, or two with a space between; a PermanentError says where."""
    words = secrets.get_secret_value().split() if secrets else []
    try:
        found = [base64.b64decode(word.removeprefix(PREFIX), validate=True) for word in words]
    except (binascii.Error, ValueError):
        found = [b""]
    good = all(SHORTEST <= len(key) <= LONGEST for key in found) and len(found) in (0, 1, 2)
    if not good or not all(word.startswith(PREFIX) for word in words):
        raise PermanentError(
            f"{where} is no signing secret: write whsec_ and {SHORTEST} to {LONGEST} bytes in "
            "base64, or two of them with a space between"
        )
    return tuple(found)


def _sign(secret: bytes, signed: bytes) -> str:
    digest = hmac.new(secret, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def _body(message: Message, now: datetime) -> dict[str, object]:
    event = message.event
    return {
        "type": event.topic if event else "",
        "timestamp": (event.at if event else now).isoformat(),
        "data": {
            "id": message.id,
            "run_id": message.run_id,
            "title": message.title,
            "text": message.text,
            "links": {"run": message.link} if message.link else {},
        },
        "text": _plain(f"*{message.title}*\n{message.text}"),
        "run_id": message.run_id,
    }


def _plain(text: str) -> str:
    """Keep what others wrote from being read as links, mentions or commands of a chat system."""
    return uncalling(html.escape(text, quote=False))
