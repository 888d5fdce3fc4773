"""Messages as JSON posts: `{"text": …}` is what chat systems' incoming webhooks read."""

import html
import re

import httpx

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_notifier.ports import Message

SECONDS = 10.0

_MENTION = re.compile(r"(?<![^\W_])@(?=\w)")
_APART = "@\N{ZERO WIDTH SPACE}"
"""Looks like an `@` and calls nobody."""


class WebhookChannel:
    """Posts each message to one address, which never appears in an error: it is a secret."""

    name = "webhook"

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._url = _web_address(url)
        self._transport = transport

    async def send(self, message: Message) -> None:
        """Show the message; a refusal that will not change is a PermanentError."""
        text = _plain(f"*{message.title}*\n{message.text}")
        body = {"text": text, "run_id": message.run_id}
        headers = {"Idempotency-Key": message.id}
        try:
            async with httpx.AsyncClient(transport=self._transport, timeout=SECONDS) as client:
                answer = await client.post(self._url, json=body, headers=headers)
        except httpx.HTTPError as error:
            kind = type(error).__name__
            raise TransientError(f"webhook channel: no answer ({kind})") from None
        if answer.status_code == httpx.codes.TOO_MANY_REQUESTS or answer.is_server_error:
            raise TransientError(f"webhook channel: answered {answer.status_code}")
        if not answer.is_success:
            raise PermanentError(
                f"webhook channel: answered {answer.status_code}; check TOCSIN_NOTIFY_WEBHOOK_URL"
            )


def _plain(text: str) -> str:
    """Keep what others wrote from being read as links, mentions or commands of a chat system."""
    return _MENTION.sub(_APART, html.escape(text, quote=False))


def _web_address(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host:
        raise PermanentError("webhook channel: TOCSIN_NOTIFY_WEBHOOK_URL is no web address")
    return address
