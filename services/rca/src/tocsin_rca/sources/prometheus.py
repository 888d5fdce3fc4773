"""Metrics of a Prometheus, or of whatever speaks its HTTP API: read only, bounded, one host."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_rca.ports import Measured, Window
from tocsin_rca.sources import prometheus_answers as answers

MOST_BYTES = 4 * 1024 * 1024
MOST_AT_ONCE = 4
ANSWER_SECONDS = 8.0
_CONNECT_SECONDS = 3.0
_LONGEST_LINK = 900
_PATH = "/api/v1/query_range"
_WITH_REASON = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE}
)
"""What the API answers, and says why, when it cannot or will not work a query out."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where a Prometheus is, and what it wants to be shown.

    `secret` is a bearer token, or with a `user` the password. `ca` is a file of authorities that
    are trusted instead of the system's; a certificate is always verified. `cluster_label` is the
    label that tells clusters apart where it knows several. `headers` are sent with each question.
    """

    url: str
    user: str = ""
    secret: SecretStr | None = None
    ca: Path | None = None
    cluster_label: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class Prometheus:
    """Asks one Prometheus; an address or file that cannot be used is a PermanentError at once."""

    source = "prometheus"

    def __init__(
        self,
        access: Access,
        *,
        seconds: float = ANSWER_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._base = _base(access.url)
        self._access = access
        self._seconds = seconds
        self._transport = transport
        self._verify = _trusting(access.ca)
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

    async def over(self, query: str, window: Window) -> Measured:
        """Ask for a window; TransientError if it may answer later, PermanentError if never."""
        asked = {
            "query": query,
            "start": f"{window.start.timestamp():.3f}",
            "end": f"{window.end.timestamp():.3f}",
            "step": f"{window.step.total_seconds():.3f}",
            "timeout": f"{self._seconds:g}s",
            "limit": str(answers.MOST_SERIES + 1),
        }
        async with self._turns, self._answer(asked) as response:
            _check(response)
            body = await _body(response)
            if response.status_code in _WITH_REASON and (why := answers.refusal(body)):
                raise _refused(response.status_code, why)
            _expect_ok(response.status_code)
            return answers.measured(body)

    def selects(self, cluster: str) -> Mapping[str, str]:
        """Return the configured label, if there is one and the alert names its cluster."""
        label = self._access.cluster_label
        return {label: cluster} if label and cluster else {}

    def link(self, query: str, window: Window) -> str:
        """Return a page of its own graph; empty for a query that makes it too long to show."""
        minutes = round((window.end - window.start).total_seconds() / 60)
        shown = {
            "g0.expr": query,
            "g0.tab": "0",
            "g0.range_input": f"{minutes}m",
            "g0.end_input": f"{window.end:%Y-%m-%d %H:%M:%S}",
        }
        link = f"{self._base}/graph?{urlencode(shown)}"
        return link if len(link) <= _LONGEST_LINK else ""

    @asynccontextmanager
    async def _answer(self, asked: Mapping[str, str]) -> AsyncIterator[httpx.Response]:
        """A connection for one question; whatever the library calls a fault is ours."""
        client = httpx.AsyncClient(
            transport=self._transport,
            verify=self._verify,
            auth=self._basic(),
            headers=self._headers(),
            timeout=httpx.Timeout(self._seconds, connect=_CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=False,
        )
        try:
            async with (
                asyncio.timeout(self._seconds),
                client,
                client.stream("GET", self._base + _PATH, params=dict(asked)) as response,
            ):
                yield response
        except httpx.HTTPError as error:
            raise TransientError(f"Prometheus is away: {type(error).__name__}") from error
        except TimeoutError as error:
            raise TransientError(f"Prometheus did not answer in {self._seconds:g} s") from error

    def _basic(self) -> httpx.BasicAuth | None:
        user, secret = self._access.user, self._access.secret
        return httpx.BasicAuth(user, secret.get_secret_value() if secret else "") if user else None

    def _headers(self) -> dict[str, str]:
        usual = {"Accept": "application/json", "Accept-Encoding": "identity"}
        shown = {**usual, **self._access.headers}
        if self._access.secret and not self._access.user:
            shown["Authorization"] = f"Bearer {self._access.secret.get_secret_value()}"
        return shown


def _base(url: str) -> str:
    try:
        address = httpx.URL(url.rstrip("/"))
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host or address.query:
        raise PermanentError("TOCSIN_PROMETHEUS_URL is no web address: write http://host:9090")
    if address.userinfo:
        raise PermanentError(
            "TOCSIN_PROMETHEUS_URL holds a password: TOCSIN_PROMETHEUS_TOKEN is its place"
        )
    return str(address)


def _trusting(ca: Path | None) -> ssl.SSLContext | bool:
    try:
        return ssl.create_default_context(cafile=str(ca)) if ca else True
    except OSError as error:
        raise PermanentError(f"TOCSIN_PROMETHEUS_CA: cannot read {str(ca)!r}: {error}") from error


def _check(response: httpx.Response) -> None:
    """Refuse what is not worth reading."""
    status = response.status_code
    if response.is_redirect:
        raise PermanentError(
            "Prometheus sends us elsewhere: set TOCSIN_PROMETHEUS_URL to where it really is"
        )
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise PermanentError(f"Prometheus answers {status}: look at TOCSIN_PROMETHEUS_TOKEN")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise PermanentError("Prometheus answers compressed, which it was asked not to")


def _refused(status: int, why: str) -> TransientError | PermanentError:
    kind = TransientError if status == HTTPStatus.SERVICE_UNAVAILABLE else PermanentError
    return kind(f"Prometheus refuses the query: {why}")


def _expect_ok(status: int) -> None:
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise TransientError(f"Prometheus answers {status}")
    if status != HTTPStatus.OK:
        raise PermanentError(f"Prometheus answers {status}: look at TOCSIN_PROMETHEUS_URL")


async def _body(response: httpx.Response) -> bytes:
    read = bytearray()
    async for piece in response.aiter_bytes():
        read += piece
        if len(read) > MOST_BYTES:
            raise PermanentError(f"Prometheus sends more than {MOST_BYTES} bytes; ask for less")
    return bytes(read)
