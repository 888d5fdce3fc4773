"""Silences of an Alertmanager, read through its API: kept for seconds, never waited for long."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import httpx
from pydantic import AwareDatetime, BaseModel, Field, SecretStr, ValidationError

from tocsin_ingest import decoding
from tocsin_ingest.ports import SilencesRead
from tocsin_ingest.triage.matchers import Matcher, Op
from tocsin_ingest.triage.silences import Silence
from tocsin_kit import logging
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import PermanentError

ANSWER_SECONDS = 2.0
MOST_BYTES = 8 * 1024 * 1024
PATH = "/api/v2/silences"

log = logging.get(__name__)


class _Status(BaseModel):
    state: str = "active"


class _Matcher(BaseModel):
    name: str
    value: str
    regex: bool = Field(default=False, alias="isRegex")
    equal: bool = Field(default=True, alias="isEqual")


class _Silence(BaseModel):
    id: str
    matchers: list[_Matcher]
    starts_at: AwareDatetime = Field(alias="startsAt")
    ends_at: AwareDatetime = Field(alias="endsAt")
    created_by: str = Field(default="", alias="createdBy")
    comment: str = ""
    status: _Status = _Status()


class AlertmanagerSilences:
    """Reads the silences of one Alertmanager; an outage is an answer without any.

    An address that is none of the web is a PermanentError.
    """

    def __init__(
        self,
        url: str,
        token: SecretStr | None = None,
        *,
        kept_seconds: float = 15,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = _web_address(url.rstrip("/").removesuffix(PATH) + PATH)
        self._headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
        self._kept = timedelta(seconds=kept_seconds)
        self._clock = clock or SystemClock()
        self._transport = transport
        self._known = SilencesRead()
        self._fresh_until: datetime | None = None
        self._reading = asyncio.Lock()

    async def read(self) -> SilencesRead:
        """Return the silences as they were some seconds ago at most, or what the problem is."""
        async with self._reading:
            now = self._clock.now()
            if self._fresh_until is None or now >= self._fresh_until:
                self._known = await self._ask()
                self._fresh_until = self._clock.now() + self._kept
            return self._known

    async def _ask(self) -> SilencesRead:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return _understood(await self._body())
        except (httpx.HTTPError, TimeoutError, ValueError) as error:
            ours = isinstance(error, _RefusedError | decoding.UndecodableError)
            why = str(error) if ours else type(error).__name__
            log.warning("ingest.silences_unread", why=why)
            return SilencesRead(problem=f"those of Alertmanager could not be read ({why})")

    async def _body(self) -> list[Any]:
        body = bytearray()
        async with (
            httpx.AsyncClient(transport=self._transport, headers=self._headers) as client,
            client.stream("GET", self._url) as answer,
        ):
            if not answer.is_success:
                raise _RefusedError(f"it answered {answer.status_code}")
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise _RefusedError(f"its answer is over {MOST_BYTES} bytes")
        listed = decoding.json_of(bytes(body))
        if not isinstance(listed, list):
            raise _RefusedError("its answer is no list")
        return listed


def _web_address(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host:
        raise PermanentError("TOCSIN_ALERTMANAGER_URL is no web address: write http://host:9093")
    return address


class _RefusedError(ValueError):
    """An answer that says nothing of silences."""


def _understood(listed: list[Any]) -> SilencesRead:
    """One silence that cannot be understood must not hide the others."""
    read: list[Silence] = []
    unclear = 0
    for one in listed:
        try:
            sent = _Silence.model_validate(one)
            if sent.status.state != "expired":
                read.append(_silence(sent))
        except ValidationError:
            unclear += 1
    problem = f"{unclear} of Alertmanager could not be understood" if unclear else ""
    return SilencesRead(silences=tuple(read), problem=problem)


def _silence(sent: _Silence) -> Silence:
    return Silence(
        name=sent.id,
        matchers=tuple(
            Matcher(name=one.name, op=_op(one), value=one.value) for one in sent.matchers
        ),
        start=sent.starts_at,
        end=sent.ends_at,
        comment=sent.comment,
        by=sent.created_by,
    )


def _op(sent: _Matcher) -> Op:
    if sent.regex:
        return Op.FITS if sent.equal else Op.FITS_NOT
    return Op.IS if sent.equal else Op.IS_NOT
