"""Asks one external agent over HTTP: no redirect, no strange host, no more than was agreed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from http import HTTPStatus

import httpx

from tocsin_agents.remote import card as cards
from tocsin_agents.remote import protocol
from tocsin_agents.remote.card import Card
from tocsin_agents.remote.config import ExternalAgent
from tocsin_agents.remote.hosts import Hosts, PinnedTransport, Resolve, resolve
from tocsin_agents.remote.sse import Events
from tocsin_agents.remote.streams import Heard
from tocsin_agents.tools.port import ToolContext
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.untrusted import clean

MOST_CARD_BYTES = 256 * 1024
MOST_BYTES = 4 * 1024 * 1024
CONNECT_SECONDS = 10
CARD_SECONDS = 4

_SPOKEN = ("text/event-stream", "application/json", "text/plain")


class Client:
    """Knows where the agent is; TransientError if it is away, PermanentError if it is not right."""

    def __init__(
        self,
        config: ExternalAgent,
        transport: httpx.AsyncBaseTransport | None = None,
        find: Resolve = resolve,
    ) -> None:
        self._config = config
        self._hosts = Hosts(config.hosts, private=config.private)
        self._hosts.check(config.base)
        self._inner = transport
        self._find = find

    async def card(self) -> Card:
        """Return the agent's card, from where it lies today or where it lay before."""
        async with self._http(CARD_SECONDS) as http:
            for path in cards.PATHS:
                url = self._config.base + path
                async with http.stream("GET", url, headers=self._headers()) as response:
                    if response.status_code == HTTPStatus.NOT_FOUND:
                        continue
                    _check(response)
                    body = b"".join([piece async for piece in _bounded(response, MOST_CARD_BYTES)])
                return self._settled(cards.read(body))
        raise PermanentError(f"there is no card at {self._config.base + cards.PATHS[0]!r}")

    async def ask(self, card: Card, question: str, context: ToolContext) -> Heard:
        """Return what the agent answered, and tell its text as it comes."""
        heard = Heard()
        async with (
            self._http(self._config.seconds) as http,
            http.stream(
                "POST",
                card.url,
                json=protocol.question(card, question),
                headers=self._headers(card),
            ) as response,
        ):
            _check(response, *_SPOKEN)
            async with aclosing(_said(response)) as said:
                async for data in said:
                    text = heard.take(data)
                    if text:
                        await context.progress(clean(text, self._config.most_chars).text)
                    if heard.ended:
                        break
        return heard

    def _settled(self, card: Card) -> Card:
        url = self._config.stream(card.url)
        self._hosts.check(url)
        return card.model_copy(update={"url": url})

    def _headers(self, card: Card | None = None) -> dict[str, str]:
        return protocol.headers(self._config.token, card)

    @asynccontextmanager
    async def _http(self, seconds: float) -> AsyncIterator[httpx.AsyncClient]:
        """A connection for one errand; whatever the library calls a fault is ours when it ends."""
        stall = self._config.stall_seconds
        inner = self._inner or httpx.AsyncHTTPTransport()
        client = httpx.AsyncClient(
            transport=PinnedTransport(self._hosts, inner, self._find),
            timeout=httpx.Timeout(stall, connect=CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=False,
        )
        try:
            async with asyncio.timeout(seconds), client:
                yield client
        except httpx.TimeoutException as error:
            raise TransientError(f"the agent said nothing for {stall:g} s") from error
        except httpx.HTTPError as error:
            raise TransientError(f"the agent is away: {type(error).__name__}") from error
        except TimeoutError as error:
            raise TransientError(f"the agent did not finish within {seconds:g} s") from error


def _check(response: httpx.Response, *kinds: str) -> None:
    status = response.status_code
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
        raise TransientError(f"the agent answers {status}")
    if response.is_redirect:
        raise PermanentError("the agent sends us elsewhere; set `url` to where it really is")
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise PermanentError(f"the agent answers {status}; look at its `token`")
    if status != HTTPStatus.OK:
        raise PermanentError(f"the agent answers {status}")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise PermanentError("the agent answers compressed, which it was asked not to")
    kind = _kind(response)
    if kinds and kind not in kinds:
        raise PermanentError(f"the agent answers with {kind[:50]!r}; is `url` really an agent's?")


def _kind(response: httpx.Response) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


async def _said(response: httpx.Response) -> AsyncGenerator[str, None]:
    """Yield the data of each event, or a whole body that is none."""
    pieces = _bounded(response, MOST_BYTES)
    if _kind(response) != "text/event-stream":
        yield b"".join([piece async for piece in pieces]).decode(errors="replace")
        return
    events = Events()
    async for piece in pieces:
        for data in events.feed(piece):
            yield data
    for data in events.end():
        yield data


async def _bounded(response: httpx.Response, most: int) -> AsyncIterator[bytes]:
    read = 0
    async for piece in response.aiter_raw():
        read += len(piece)
        if read > most:
            raise PermanentError(f"the agent sends more than {most} bytes")
        yield piece
