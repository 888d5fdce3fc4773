"""The one HTTP client of all forges: one host, bounded answers, failures in our own words."""

import asyncio
import functools
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from tocsin_gitops.hosts import failures
from tocsin_gitops.hosts.tokens import Tokens
from tocsin_gitops.providers import HostType, Provider
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import PermanentError, TocsinError, TransientError
from tocsin_kit.metrics import Counter
from tocsin_kit.redaction import Redactor

CONNECT_SECONDS, STALL_SECONDS, MOST_SECONDS = 10.0, 30.0, 60.0
MOST_BYTES = 8 * 1024 * 1024
UNAUTHORIZED = 401

_STALLS = httpx.Timeout(STALL_SECONDS, connect=CONNECT_SECONDS)
_USUAL = {HostType.GITHUB: "/api/v3", HostType.GITLAB: "/api/v4", HostType.GITEA: "/api/v1"}
_HEADERS = {
    HostType.GITHUB: {
        "accept": "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
    }
}
_PLAIN = {"accept": "application/json"}

TROUBLE = Counter(
    "tocsin_forge_trouble_total",
    "Questions that a forge did not answer, or refused.",
    ("host", "end"),
)

Params = Mapping[str, str | int]
T = TypeVar("T")


def api_base(provider: Provider) -> str:
    """Return where the API of a provider is, without a slash at the end."""
    usual = f"https://{provider.host}{_USUAL.get(provider.type, '')}"
    return (provider.api_base or usual).rstrip("/")


def at(*segments: object) -> str:
    """Return the path of these segments, each quoted whole: a slash in one is no separator."""
    texts = [str(segment) for segment in segments]
    wrong = next((text for text in texts if text in ("", ".", "..")), None)
    if wrong is not None:
        raise PermanentError(f"{wrong!r} cannot be a part of an address; mend the name it is in")
    return "".join(f"/{quote(text, safe='')}" for text in texts)


class _Account(BaseModel):
    id: int


class ForgeClient:
    """Asks one provider, and no other host: redirects are errors.

    Answers are read into `shape`, anything that pydantic reads. TransientError asks for patience,
    with the host's own wait in `retry_in`; NotFoundError, ConflictError and other PermanentErrors
    are for the caller or a person. No message holds a token or a query. What writes waits for
    what writes already, as GitHub asks.
    """

    def __init__(
        self,
        provider: Provider,
        tokens: Tokens,
        *,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.provider = provider
        self._base = api_base(provider)
        self._tokens = tokens
        self.clock = clock or SystemClock()
        self._transport = transport
        self._writing = asyncio.Lock()
        self._me = ""
        for end in ("away", "refused"):
            TROUBLE.labels(provider.host, end)  # from zero on: the first is an increase too

    async def me(self, repository: str) -> str:
        """Return the host's id of the account that we write as."""
        if not self._me:
            path = await self._tokens.account(repository)
            self._me = str((await self.get(_Account, repository, path)).id)
        return self._me

    async def get(
        self, shape: type[T], repository: str, path: str, params: Params | None = None
    ) -> T:
        """Return what is at a path below the API; `repository` chooses the token."""
        return await self._ask(shape, repository, "GET", path, params=params)

    async def send(
        self, shape: type[T], method: str, repository: str, path: str, body: Mapping[str, Any]
    ) -> T:
        """Write once, never again by itself, and return the answer."""
        async with self._writing:
            return await self._ask(shape, repository, method, path, json=body)

    async def _ask(
        self, shape: type[T], repository: str, method: str, path: str, **content: Any
    ) -> T:
        """Ask, and count what an operator should hear of: what is not there is an answer too."""
        try:
            return await self._answer(shape, repository, method, path, **content)
        except (failures.NotFoundError, failures.ConflictError):
            raise
        except TocsinError as error:
            end = "away" if isinstance(error, TransientError) else "refused"
            TROUBLE.labels(self.provider.host, end).inc()
            raise

    async def _answer(
        self, shape: type[T], repository: str, method: str, path: str, **content: Any
    ) -> T:
        asked = f"{self.provider.host}: {method} {path}"
        token = await self._tokens.token(repository)
        headers = self._headers(token)
        stalls = {"timeout": _STALLS.as_dict()}
        request = httpx.Request(
            method, self._base + path, headers=headers, extensions=stalls, **content
        )
        async with (
            self._way(asked) as way,
            aclosing(await way.handle_async_request(request)) as response,
        ):
            body = await _body(asked, response)
        if not response.is_success:
            raise self._failure(asked, repository, token, response, body)
        answer: T = _read(asked, shape, body)
        return answer

    def _headers(self, token: str) -> dict[str, str]:
        always = {"user-agent": "tocsin", "accept-encoding": "identity"}
        headers = always | _HEADERS.get(self.provider.type, _PLAIN)
        if not token:
            return headers
        if not token.isascii() or not token.isprintable() or " " in token:
            raise PermanentError(f"no token can look like that; {self._tokens.needs}")
        return headers | {"authorization": f"Bearer {token}"}

    def _failure(
        self, asked: str, repository: str, token: str, response: httpx.Response, body: bytes
    ) -> Exception:
        status, said = response.status_code, failures.said(body, Redactor([token]))
        if status == UNAUTHORIZED and self._tokens.refused(repository):
            return TransientError(f"{asked}: the token was not taken; the next one may be")
        refusal = failures.Refusal(asked, status, response.headers, said)
        return failures.meaning(refusal, self._tokens.needs, self.clock.now())

    @asynccontextmanager
    async def _way(self, asked: str) -> AsyncIterator[httpx.AsyncBaseTransport]:
        """One request's connection; whatever the library calls a fault is ours when it ends."""
        try:
            async with (
                asyncio.timeout(MOST_SECONDS),
                self._transport or _transport(self.provider.proxy) as way,
            ):
                yield way
        except httpx.TimeoutException as error:
            raise TransientError(f"{asked}: no answer for {STALL_SECONDS:g} s") from error
        except httpx.HTTPError as error:
            raise _away(asked, error) from error
        except TimeoutError as error:
            raise TransientError(f"{asked}: not finished within {MOST_SECONDS:g} s") from error


def _transport(proxy: str) -> httpx.AsyncHTTPTransport:
    trusted = _certificates()
    way = httpx.Proxy(proxy, ssl_context=trusted) if proxy.startswith("https:") else proxy
    return httpx.AsyncHTTPTransport(verify=trusted, proxy=way or None)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Those of `certifi`, or of SSL_CERT_FILE: a forge inside a company has its own."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        raise PermanentError(f"no certificates can be read; mend SSL_CERT_FILE: {error}") from error


def _away(asked: str, error: httpx.HTTPError) -> TocsinError:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return PermanentError(f"{asked}: its certificate is not trusted; look at SSL_CERT_FILE")
    return TransientError(f"{asked}: the host is away ({type(error).__name__})")


async def _body(asked: str, response: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MOST_BYTES:
            raise PermanentError(f"{asked}: the answer has over {MOST_BYTES} bytes")
    return bytes(body)


@functools.cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    """Making one takes longer than reading an answer."""
    return TypeAdapter(shape)


def _read(asked: str, shape: Any, body: bytes) -> Any:
    try:
        return _adapter(shape).validate_json(body or b"null")
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "the whole"
        raise PermanentError(
            f"{asked}: the answer is not of this API: {where}: {first['msg']}; look at api_base"
        ) from None
