"""The one HTTP client of all backends: one host, read only, bounded, failures in our own words."""

import asyncio
import functools
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import PermanentError, TocsinError, TransientError
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import line

CONNECT_SECONDS = 3.0
MOST_BYTES = 4 * 1024 * 1024
MOST_AT_ONCE = 4
_LONGEST_REASON = 300
_SAID_BYTES = 2000

T = TypeVar("T")
Params = Mapping[str, str | int | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Place:
    """One backend: what it is called, where it is, what it is shown, and whom to trust."""

    name: str
    base: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    ca_file: Path | None = None
    seconds: float = 10


class Client:
    """Asks one backend, and no other host: redirects are errors, proxies are not looked for.

    Answers are read into `shape`, anything that pydantic reads. TransientError is for what may
    work later, PermanentError for a person; both name the backend and the question, and hold
    neither a secret nor what was searched for.
    """

    def __init__(
        self,
        place: Place,
        *,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.clock = clock or SystemClock()
        self.name = place.name
        self._place = place
        self._transport = transport
        self._redactor = Redactor(place.secrets)
        self._trusted = _trusting(place.name, place.ca_file)
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

    async def get(self, shape: type[T], path: str, params: Params | None = None) -> T:
        """Return what is at a path below the API."""
        return await self._ask(shape, "GET", path, params=dict(params or {}))

    async def text(self, path: str, params: Params | None = None) -> str:
        """Return what is at a path, which is no JSON."""
        body = await self._body("GET", path, params=dict(params or {}))
        return body.decode("utf-8", errors="replace")

    async def search(self, shape: type[T], path: str, body: Any, params: Params | None = None) -> T:
        """Return the answer to a question that is too long for an address: JSON that is posted."""
        return await self._ask(shape, "POST", path, json=body, params=dict(params or {}))

    async def submit(self, shape: type[T], path: str, form: Params) -> T:
        """Return the answer to a question that is posted as a form."""
        return await self._ask(shape, "POST", path, data=dict(form))

    async def _ask(self, shape: type[T], method: str, path: str, **content: Any) -> T:
        body = await self._body(method, path, **content)
        answer: T = self._read(f"{method} {path}", shape, body)
        return answer

    async def _body(self, method: str, path: str, **content: Any) -> bytes:
        asked = f"{self.name}: {method} {path}"
        async with self._turns, self._answer(asked, method, path, content) as response:
            if response.is_redirect:
                raise PermanentError(f"{asked}: it sends us elsewhere; set `url` to where it is")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise PermanentError(f"{asked}: it answers compressed, which it was asked not to")
            body = await _bounded(asked, response)
        if not response.is_success:
            raise self._failure(asked, response, body)
        return body

    @asynccontextmanager
    async def _answer(
        self, asked: str, method: str, path: str, content: Mapping[str, Any]
    ) -> AsyncIterator[httpx.Response]:
        """A connection for one question; whatever the library calls a fault is ours."""
        seconds = self._place.seconds
        client = httpx.AsyncClient(
            transport=self._transport,
            verify=self._trusted,
            headers={"Accept": "application/json", "Accept-Encoding": "identity"}
            | dict(self._place.headers),
            timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            follow_redirects=False,
            trust_env=False,
        )
        try:
            async with (
                asyncio.timeout(seconds),
                client,
                client.stream(method, self._place.base + path, **content) as response,
            ):
                yield response
        except httpx.HTTPError as error:
            raise _away(asked, error) from error
        except TimeoutError as error:
            raise TransientError(f"{asked}: no answer in {seconds:g} s") from error

    def _failure(self, asked: str, response: httpx.Response, body: bytes) -> TocsinError:
        status = response.status_code
        reason = self._redactor.text(body[:_SAID_BYTES].decode("utf-8", errors="replace"))
        told = f"{asked}: it answers {status}: {line(reason, _LONGEST_REASON) or 'nothing more'}"
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return PermanentError(f"{told}; look at `token` of backend {self.name!r}")
        if status == HTTPStatus.NOT_FOUND:
            return PermanentError(f"{told}; there is no such thing, or `url` is wrong")
        later = status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT)
        if later or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return TransientError(told)
        return PermanentError(told)

    def _read(self, asked: str, shape: Any, body: bytes) -> Any:
        try:
            return _adapter(shape).validate_json(body)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "the whole"
            raise PermanentError(
                f"{self.name}: {asked}: the answer is not of this API: {line(where)}: "
                f"{line(first['msg'])}; look at `url` and `type`"
            ) from None


@functools.cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    """Making one takes longer than reading an answer."""
    return TypeAdapter(shape)


def _trusting(name: str, ca_file: Path | None) -> ssl.SSLContext:
    try:
        return _authorities(ca_file)
    except OSError as error:
        raise PermanentError(
            f"backend {name!r}: `ca_file`: cannot read {str(ca_file)!r}: {error}"
        ) from error


@functools.cache
def _authorities(ca_file: Path | None) -> ssl.SSLContext:
    """Reading them takes longer than asking; whom to trust is read once."""
    return (
        ssl.create_default_context(cafile=str(ca_file)) if ca_file else httpx.create_ssl_context()
    )


def _away(asked: str, error: httpx.HTTPError) -> TocsinError:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return PermanentError(f"{asked}: its certificate is not trusted; look at `ca_file`")
    return TransientError(f"{asked}: it is away ({type(error).__name__})")


async def _bounded(asked: str, response: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MOST_BYTES:
            raise PermanentError(f"{asked}: the answer has over {MOST_BYTES} bytes; ask for less")
    return bytes(body)
