"""Posts to incoming webhooks: what is worth another try, and an address that nobody reads."""

import asyncio
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache
from math import isfinite
from typing import Any

import httpx
from pydantic import SecretStr

from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_notifier.ports import Message

SECONDS = 10.0
PATIENCE = 5.0
LONGEST_WAIT = 3600.0
"""However long somebody wants to be left alone, they are asked again after this many seconds."""

_MAY_CHANGE = (
    httpx.codes.REQUEST_TIMEOUT,
    httpx.codes.TOO_EARLY,
    httpx.codes.TOO_MANY_REQUESTS,
)


@dataclass(frozen=True, slots=True)
class Post:
    """What is posted: a body of JSON, and what is added to the address."""

    body: Mapping[str, Any]
    query: Mapping[str, str] = field(default_factory=dict)


class Hook:
    """One address to post to. It is a secret: errors tell whose it is, and where it is kept.

    Redirects are not followed, and what is answered is not read.
    """

    def __init__(
        self,
        channel: str,
        url: SecretStr,
        place: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._whose = f"channel {channel!r}"
        self._place = place
        self._url = _address(url.get_secret_value(), f"{self._whose}: {place}")
        self._transport = transport
        self._tls = _trusted()
        self.clock = clock or SystemClock()

    async def post(
        self,
        body: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> None:
        """Post JSON; a refusal that will not change is a PermanentError."""
        url = self._url.copy_merge_params(dict(query)) if query else self._url
        told = {"content-type": "application/json", **(headers or {})}
        try:
            async with (
                asyncio.timeout(2 * SECONDS),
                self._client() as client,
                client.stream("POST", url, content=body, headers=told) as answer,
            ):
                self._judge(answer)
        except (httpx.HTTPError, TimeoutError) as error:
            kind = type(error).__name__
            raise TransientError(f"{self._whose}: no answer ({kind})") from None

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=self._transport, verify=self._tls, timeout=SECONDS)

    def _judge(self, answer: httpx.Response) -> None:
        if answer.is_success:
            return
        code = answer.status_code
        if code in _MAY_CHANGE or answer.is_server_error:
            wait = retry_after(answer.headers.get("retry-after", ""), self.clock.now())
            raise TransientError(f"{self._whose}: answered {code}", retry_in=wait)
        raise PermanentError(f"{self._whose}: answered {code}; check {self._place}")


class HookChannel:
    """A channel that posts each message, as its chat system wants it written."""

    def __init__(self, name: str, hook: Hook, write: Callable[[Message], Post]) -> None:
        self.name = name
        self._hook = hook
        self._write = write

    async def send(self, message: Message) -> None:
        """Show the message; a refusal that will not change is a PermanentError."""
        post = self._write(message)
        await self._hook.post(encoded(post.body), query=post.query)


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return JSON as it is posted."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def retry_after(said: str, now: datetime) -> float:
    """Return the seconds that a `Retry-After` asks for, within reason; else the usual ones."""
    try:
        wait = float(said)
    except ValueError:
        wait = _until(said, now)
    return min(max(wait, 1.0), LONGEST_WAIT) if isfinite(wait) else PATIENCE


def _until(said: str, now: datetime) -> float:
    try:
        return (parsedate_to_datetime(said) - now).total_seconds()
    except (ValueError, TypeError):
        return PATIENCE


@cache
def _trusted() -> ssl.SSLContext:
    """Return whom to trust; reading it takes so long that no post should wait for it."""
    return httpx.create_ssl_context()


def _address(url: str, where: str) -> httpx.URL:
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host:
        raise PermanentError(f"{where} is no web address")
    return address
