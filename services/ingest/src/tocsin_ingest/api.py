"""The webhook endpoint: verify, parse every alert, admit each, answer only once all is stored."""

from collections.abc import Iterator, Sequence
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from tocsin_contracts import Alert
from tocsin_contracts.views import DeliveryReceipt
from tocsin_ingest.alerts import Identity, alert_of
from tocsin_ingest.edge import answers, openapi
from tocsin_ingest.edge.answers import RefusedError
from tocsin_ingest.edge.bodies import Limits, payload_of
from tocsin_ingest.edge.counting import Reason, counted
from tocsin_ingest.edge.door import KEY_IN_PATH, Door, Entered
from tocsin_ingest.edge.gate import Gate, Known
from tocsin_ingest.edge.lane import Lane
from tocsin_ingest.edge.memo import Memo
from tocsin_ingest.edge.subscriptions import Subscriptions
from tocsin_ingest.marks import MARKS, Marks
from tocsin_ingest.ports import (
    AlertSource,
    BadPayloadError,
    Delivery,
    Reading,
    Taker,
    endpoints_of,
)
from tocsin_ingest.senders import Auth
from tocsin_kit import logging
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import TransientError
from tocsin_kit.registry import Registry

log = logging.get(__name__)

CHAT = "chat"
"""The source that has a path of its own beside its webhook."""

UNPROCESSABLE = 422
MOST_ALERTS = 1000
"""In one request."""


class Api:
    """Receives webhooks. 2xx means that every alert of the request is stored on the bus."""

    def __init__(
        self,
        sources: Registry[AlertSource],
        receiver: Taker,
        *,
        gate: Gate,
        limits: Limits | None = None,
        replica_labels: frozenset[str] = frozenset(),
        marks: Marks = MARKS,
        subscriptions: Subscriptions | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._sources = sources
        self._receiver = receiver
        self._limits = limits or Limits()
        self._replica_labels = replica_labels
        self._marks = marks
        self._subscriptions = subscriptions or Subscriptions(None)
        self._clock = clock or SystemClock()
        self._door = Door(gate, self._limits, self._clock)
        self._memo = Memo()

    def app(self, others: Sequence[BaseRoute] = ()) -> Lane:
        """Return the HTTP application, with whatever other endpoints ingest has."""
        routes = [
            Route(f"/webhook/{path}", self.receive, methods=["POST"])
            for path in ("{source}", "{source}/{instance}")
        ]
        routes += [route for source in self._sources for route in self._endpoints(source)]
        routes.append(Route("/chat", partial(self.deliver, source=CHAT), methods=["POST"]))
        document = openapi.document(list(self._sources))
        router = Starlette(
            routes=[*routes, *others, Route("/openapi.json", openapi.endpoint(document))],
            exception_handlers={RefusedError: answers.refuse, HTTPException: answers.no_route},
        )
        return Lane(self.receive, router)

    def _endpoints(self, source: AlertSource) -> Iterator[Route]:
        """The addresses of a source below its own."""
        take = partial(self.deliver, source=source.name)
        for one in endpoints_of(source):
            yield Route(f"/webhook/{source.name}/{one.path}", take, methods=list(one.methods))

    async def receive(self, request: Request) -> Response:
        """Take one webhook request."""
        source = request.path_params["source"]
        return await self.deliver(request, source, request.path_params.get("instance", ""))

    async def deliver(self, request: Request, source: str, instance: str = "") -> Response:
        """Take one request of a sender, whatever its path."""
        if source in self._sources:
            request.state.source = source
        with self._door.room() as place:
            greeted = self._door.greet(request, source, instance)
            if source not in self._sources:
                names = ", ".join(one.name for one in self._sources)
                error, hint = f"no alert source {source!r}", f"known sources: {names}"
                raise RefusedError(404, Reason.NO_SUCH_PATH, error, hint)
            entered = await self._door.enter(request, greeted, place)
            alerts = await self._alerts(request, entered, self._sources[source], instance)
            receipt = await self._take(alerts)
        for one in receipt.alerts:
            counted(source, one.status).inc()
        return answers.accepted(receipt)

    async def _alerts(
        self, request: Request, entered: Entered, source: AlertSource, instance: str
    ) -> Sequence[Alert]:
        known, headers, body = entered.known, entered.headers, entered.body
        repeatable = getattr(source, "repeatable", False) and known.sender.auth is not Auth.SNS
        key = self._memo.key(f"{source.name}/{instance}", headers, body) if repeatable else None
        alerts = self._memo.get(key) if key else None
        if alerts is not None:
            self._door.charge(known, len(alerts))
            return alerts
        now = self._clock.now()
        readings = await self._read(request, entered, source)
        self._door.charge(known, len(readings))
        identity = self._identity(known, source.name, instance)
        alerts = [alert_of(reading, identity) for reading in readings]
        if key:
            self._memo.put(key, len(body), alerts, now)
        return alerts

    async def _read(
        self, request: Request, entered: Entered, source: AlertSource
    ) -> Sequence[Reading]:
        takes_forms = getattr(source, "takes_forms", False)
        payload = payload_of(entered.headers, entered.body, self._limits, takes_forms=takes_forms)
        now = self._clock.now()
        if await self._subscriptions.settle(entered.known, payload, now):
            return ()
        self._door.believe(entered.known, entered.place)
        try:
            readings = source.parse(
                Delivery(
                    payload=payload,
                    received_at=now,
                    headers=entered.headers,
                    path={n: text for n, text in request.path_params.items() if n != KEY_IN_PATH},
                )
            )
        except BadPayloadError as error:
            hint = f"see docs/sources.md for {source.name}"
            raise RefusedError(UNPROCESSABLE, Reason.NO_ALERT, str(error), hint) from None
        if len(readings) > MOST_ALERTS:
            many = f"alerts: {len(readings)} are more than {MOST_ALERTS}"
            hint = "send them in several requests"
            raise RefusedError(UNPROCESSABLE, Reason.TOO_MANY, many, hint)
        return readings

    def _identity(self, known: Known, source: str, instance: str) -> Identity:
        own = known.sender.replica_labels
        return Identity(
            source=source,
            instance=instance,
            ignored=self._replica_labels if own is None else frozenset(own),
            only=known.sender.identity_labels,
            marks=self._marks,
        )

    async def _take(self, alerts: Sequence[Alert]) -> DeliveryReceipt:
        try:
            admissions = await self._receiver.take_all(alerts)
        except TransientError as error:
            log.warning("ingest.not_stored", why=str(error))
            raise answers.not_stored(error) from error
        return answers.receipt_of(zip(alerts, admissions, strict=True))
