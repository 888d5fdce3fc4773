"""The webhook endpoint: verify, parse every alert, admit each, answer only once all is stored."""

import hmac
import json
from collections.abc import Mapping, Sequence
from typing import NoReturn

from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tocsin_contracts import Alert
from tocsin_contracts.views import AlertReceipt, DeliveryReceipt, DeliveryStatus, ErrorView
from tocsin_ingest.alerts import Identity, alert_of
from tocsin_ingest.ports import AlertSource, BadPayloadError, Delivery, Reading
from tocsin_ingest.receiver import Receiver
from tocsin_kit import logging
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import TransientError
from tocsin_kit.intake import Admission
from tocsin_kit.registry import Registry

log = logging.get(__name__)


UNAVAILABLE = 503
MOST_ALERTS = 1000
"""In one request."""


class RefusedError(Exception):
    """A request that gets an answer other than 202."""

    def __init__(self, status: int, error: str, hint: str) -> None:
        super().__init__(error)
        self.status = status
        self.view = ErrorView(error=error, hint=hint)


class Api:
    """Receives webhooks. 2xx means that every alert of the request is stored on the bus."""

    def __init__(
        self,
        sources: Registry[AlertSource],
        receiver: Receiver,
        *,
        tokens: Sequence[SecretStr],
        replica_labels: frozenset[str],
        max_body_bytes: int,
        clock: Clock | None = None,
    ) -> None:
        self._sources = sources
        self._receiver = receiver
        self._tokens = [token.get_secret_value().encode() for token in tokens]
        self._replica_labels = replica_labels
        self._max_body_bytes = max_body_bytes
        self._clock = clock or SystemClock()

    def app(self) -> Starlette:
        """Return the HTTP application."""
        routes = [
            Route(f"/webhook/{path}", self.receive, methods=["POST"])
            for path in ("{source}", "{source}/{instance}")
        ]
        return Starlette(
            routes=routes, exception_handlers={RefusedError: _refuse, HTTPException: _no_route}
        )

    async def receive(self, request: Request) -> JSONResponse:
        """Take one webhook request."""
        self._verify(request)
        name = request.path_params["source"]
        if name not in self._sources:
            known = ", ".join(source.name for source in self._sources)
            raise RefusedError(404, f"no alert source {name!r}", f"known sources: {known}")
        identity = Identity(
            source=name,
            instance=request.path_params.get("instance", ""),
            ignored=self._replica_labels,
        )
        headers = dict(request.headers)
        readings = self._parse(self._sources[name], await self._body(request), headers)
        if len(readings) > MOST_ALERTS:
            error = f"alerts: {len(readings)} are more than {MOST_ALERTS}"
            raise RefusedError(422, error, "send them in several requests")
        alerts = [alert_of(reading, identity) for reading in readings]
        try:
            admissions = await self._receiver.take_all(alerts)
        except TransientError as error:
            log.warning("ingest.not_stored", why=str(error))
            raise RefusedError(
                UNAVAILABLE, "the alert could not be stored", "send it again; nothing was lost"
            ) from error
        admitted = list(zip(alerts, admissions, strict=True))
        return JSONResponse(_answer(admitted).model_dump(), 202)

    def _verify(self, request: Request) -> None:
        if not self._tokens:
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        matches = [hmac.compare_digest(given.encode(), token) for token in self._tokens]
        if scheme.lower() != "bearer" or not any(matches):
            raise RefusedError(
                401, "unknown sender", "send `Authorization: Bearer <one of TOCSIN_INGEST_TOKENS>`"
            )

    async def _body(self, request: Request) -> bytes:
        body = bytearray()
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > self._max_body_bytes:
                    limit = self._max_body_bytes
                    raise RefusedError(413, f"the body is over {limit} bytes", "send fewer alerts")
        except ClientDisconnect:
            raise RefusedError(400, "the sender hung up", "send the request again") from None
        return bytes(body)

    def _parse(self, source: AlertSource, body: bytes, headers: Mapping[str, str]) -> list[Reading]:
        try:
            payload = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
            json.dumps(payload, ensure_ascii=False).encode()  # half a character goes nowhere
        except (ValueError, RecursionError) as error:
            raise RefusedError(400, f"not JSON: {error}", "send one JSON object") from None
        try:
            return source.parse(
                Delivery(payload=payload, received_at=self._clock.now(), headers=headers)
            )
        except BadPayloadError as error:
            raise RefusedError(422, str(error), f"see docs/sources.md for {source.name}") from None


def _answer(admitted: Sequence[tuple[Alert, Admission]]) -> DeliveryReceipt:
    """Answer with one receipt per alert; the first one's run also stands at the top."""
    receipts = tuple(_receipt(alert, one) for alert, one in admitted)
    if not receipts:
        return DeliveryReceipt(status="nothing to do")
    first = receipts[0]
    return DeliveryReceipt(
        status="accepted",
        run_id=first.run_id,
        thread_id=first.thread_id,
        poll_url=first.poll_url,
        alerts=receipts,
    )


def _receipt(alert: Alert, admitted: Admission) -> AlertReceipt:
    run_id = admitted.run_id or ""
    return AlertReceipt(
        fingerprint=alert.fingerprint,
        status=DeliveryStatus(admitted.outcome),
        run_id=run_id,
        thread_id=run_id,
        poll_url=f"/api/v1/runs/{run_id}" if run_id else "",
    )


async def _refuse(request: Request, error: Exception) -> JSONResponse:
    del request
    if not isinstance(error, RefusedError):
        raise error
    headers = {"Connection": "close"}  # what is left of the body is not worth reading
    if error.status == UNAVAILABLE:
        headers["Retry-After"] = "5"
    return JSONResponse(error.view.model_dump(), error.status, headers=headers)


async def _no_route(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    what = f"{request.method} {request.url.path}: {error.detail}"
    view = ErrorView(error=what, hint="send alerts with POST /webhook/<source>")
    return JSONResponse(view.model_dump(), error.status_code, headers=error.headers)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
