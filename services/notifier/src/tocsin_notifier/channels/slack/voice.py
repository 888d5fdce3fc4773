"""Words for one person alone: the answer to a click that decided nothing."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import httpx

from tocsin_kit.errors import TransientError
from tocsin_notifier.channels.slack.payloads import Payload
from tocsin_notifier.channels.slack.web import Web

SECONDS = 5.0


_trust = cache(httpx.create_ssl_context)
"""Whose certificates are good; to make it takes longer than a request."""


class Voice:
    """Answers where the click says, if that is Slack; else by a call of the Web API.

    The address stands in the payload: any other host than Slack's own is never asked.
    """

    def __init__(
        self, web: Web, hooks_url: str, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._web = web
        self._hooks = httpx.URL(hooks_url)
        self._transport = transport
        self._trust = _trust()

    async def whisper(self, payload: Payload, channel: str, text: str) -> None:
        """Tell the person who clicked; nobody else sees it."""
        if self._is_slack(payload.response_url):
            await self._respond(payload.response_url, text)
        elif channel:
            await self._web.whisper(channel, payload.user.id, text)

    async def open_window(self, payload: Payload, window: Mapping[str, Any]) -> None:
        """Open a window for the person who clicked; Slack allows it for 3 s."""
        await self._web.open_window(payload.trigger_id, window)

    def _is_slack(self, address: str) -> bool:
        try:
            url = httpx.URL(address)
        except httpx.InvalidURL:
            return False
        ours = (url.scheme, url.host, url.port, url.userinfo)
        return ours == (self._hooks.scheme, self._hooks.host, self._hooks.port, b"")

    async def _respond(self, url: str, text: str) -> None:
        said = {"response_type": "ephemeral", "replace_original": False, "text": text}
        try:
            async with httpx.AsyncClient(
                verify=self._trust, transport=self._transport, timeout=SECONDS
            ) as client:
                answer = await client.post(url, json=said)
        except httpx.HTTPError as error:
            kind = type(error).__name__
            raise TransientError(f"slack: the answer was not heard ({kind})") from None
        if not answer.is_success:
            raise TransientError(f"slack: the answer was refused ({answer.status_code})")
