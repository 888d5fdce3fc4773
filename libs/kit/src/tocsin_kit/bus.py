"""The event bus of one service: subjects, durables and acknowledgement live behind it."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar, cast

from faststream import AckPolicy, StreamMessage
from faststream.nats import JStream, NatsBroker, PullSub
from nats.errors import Error as NatsError
from pydantic import BaseModel, ValidationError

from tocsin_contracts import Event, LiveEvent, RunId
from tocsin_kit import denials, logging
from tocsin_kit.client_errors import ClientErrors
from tocsin_kit.delivery import delivery
from tocsin_kit.errors import PermanentError
from tocsin_kit.heartbeat import Vitals
from tocsin_kit.metrics import Counter
from tocsin_kit.moves import ANY, Move
from tocsin_kit.publishing import Publisher
from tocsin_kit.rights import inbox
from tocsin_kit.runs import RunStore
from tocsin_kit.settings import ServiceSettings
from tocsin_kit.timers import Timer
from tocsin_kit.topology import (
    CANARY,
    CONSUMERS,
    FACTS,
    PARKED,
    TIMERS,
    TimerKind,
    durable,
    timer_durable,
)
from tocsin_kit.work import Handler, Work

E = TypeVar("E", bound=Event)
M = TypeVar("M", bound=BaseModel)
PULL_SECONDS = 5.0
LETTER_BYTES = 128 * 1024
"""How much of a body a dead letter keeps: with its escapes it has to fit into one message."""

LOST = Counter("tocsin_live_lost_total", "Live events that the bus was spared.", ["kind"])

log = logging.get(__name__)


class Bus:
    """Connects one service to the streams that all services share.

    `moves_runs` says whether a message that can never be handled ends its run as `failed`;
    services that only watch park it and go on.
    """

    def __init__(
        self, settings: ServiceSettings, runs: RunStore, *, moves_runs: bool = False
    ) -> None:
        self._service = settings.service
        self._settings = settings
        self._moves_runs = moves_runs
        self._known = {consumer.durable: consumer for consumer in CONSUMERS}
        self._errors = ClientErrors(partial(denials.tell, user=denials.user_of(settings.nats_url)))
        self._inbox = inbox(self._service)
        self._publisher = Publisher()
        self.vitals = Vitals()
        self._work = Work(self._service, runs, self.publish, settings.lease_seconds / 3)
        self.broker = NatsBroker(
            settings.nats_url,
            name=f"tocsin-{self._service}",
            inbox_prefix=self._inbox,
            max_reconnect_attempts=-1,
            reconnect_time_wait=cast("int", 0.5),
            ping_interval=2,
            graceful_timeout=8,
            error_cb=self._errors.on_error,
            disconnected_cb=_log_disconnect,
            reconnected_cb=_log_reconnect,
            logger=None,
            middlewares=[cast("Any", delivery(settings.ack_wait, self._park, self.vitals))],
        )

    async def start(self) -> None:
        """Connect, and let the subscribers begin."""
        await self.broker.start()
        self._publisher.use(await self.broker.connect())

    async def close(self) -> None:
        """Finish what is in flight, then disconnect; a server that is away is not waited for."""
        try:
            await self.broker.stop()
        except NatsError as error:
            log.warning("bus.not_drained", error=repr(error))
            await (await self.broker.connect()).close()
        finally:
            self._errors.close()

    @property
    def connected(self) -> bool:
        """Whether the server is there, as far as the client knows."""
        return self._publisher.connected

    async def publish(self, event: Event) -> None:
        """Publish once: a second publish with the same id is dropped by the server.

        Returns after the server has stored it; raises TransientError when it did not say so.
        """
        await self._publisher.store(
            event.model_dump_json().encode(), event.subject, FACTS, headers=event.headers()
        )

    async def tell(self, event: LiveEvent) -> None:
        """Tell who listens right now; it takes no time, never fails, and may be lost."""
        if not await self._publisher.tell(event.model_dump_json().encode(), event.subject):
            LOST.labels(event.kind).inc()

    async def fill(self) -> float:
        """Return how full the stream of facts is: 1 is full. TransientError if nobody says."""
        return await self._publisher.fill(FACTS)

    async def set_timer(self, timer: Timer) -> None:
        """Store a timer; it comes due on every clock that survives this process."""
        await self._publisher.store(
            timer.model_dump_json().encode(),
            timer.set_subject,
            TIMERS,
            headers={
                "Nats-Msg-Id": f"set:{timer.id}",
                "Nats-Schedule": f"@at {timer.due_at.isoformat()}",
                "Nats-Schedule-Target": timer.due_subject,
            },
        )

    async def canary(self) -> None:
        """Publish and see it stored; raises TransientError when the bus does not store."""
        await self._publisher.store(
            b"{}", f"tocsin-canary.{self._service}", CANARY, headers={}, timeout=2.0
        )

    def on(self, event_type: type[E], handler: Handler[E], allowed: Move = ANY) -> None:
        """Call the handler for each event of a type, one at a time per run.

        What it returns is committed to the run, then published with this event as its cause.
        """

        async def consume(event: Event) -> None:
            await self._work.handle(event, cast("Handler[Event]", handler), allowed)

        self._subscribe(durable(self._service, event_type), event_type, consume, handler.__doc__)

    def watch(self, event_type: type[E], handler: Callable[[E], Awaitable[None]]) -> None:
        """Call the handler for each event of a type, also while somebody works on its run.

        It commits nothing, so it may be called twice, and at the same time as another.
        """
        name = durable(self._service, event_type)

        async def consume(event: Event) -> None:
            await handler(cast("E", event))

        self._subscribe(name, event_type, consume, handler.__doc__)

    def on_timer(
        self,
        kind: TimerKind,
        handler: Callable[[Timer], Awaitable[Any]],
        allowed: Move,
    ) -> None:
        """Call the handler when a timer comes due, under the same protocol as an event."""

        async def consume(timer: Timer) -> None:
            async def answer(_: Event) -> Any:
                return await handler(timer)

            await self._work.handle(timer.as_event(), answer, allowed)

        self._subscribe(timer_durable(self._service, kind), Timer, consume, handler.__doc__)

    def _subscribe(
        self,
        name: str,
        model: type[M],
        consume: Callable[[M], Awaitable[None]],
        description: str | None,
    ) -> None:
        """One subscriber per message in flight: FastStream's own workers would pull ahead."""
        if name not in self._known:
            raise PermanentError(f"durable {name!r} is not in the topology; add it to READS")
        consume.__annotations__ = {"event": model, "timer": model, "return": None}
        for n in range(self._settings.concurrency):
            self.broker.subscriber(
                self._known[name].subject,
                stream=JStream(self._known[name].stream, declare=False),
                durable=name,
                inbox_prefix=f"{self._inbox}.".encode(),
                pull_sub=PullSub(batch_size=1, timeout=PULL_SECONDS),
                ack_policy=AckPolicy.NACK_ON_ERROR,
                decoder=_decoder(model),
                title=name,
                description=(description or "").strip(),
                include_in_schema=n == 0,
            )(consume)

    async def _park(self, msg: StreamMessage[Any], cause: str) -> None:
        """Write the dead letter with its cause, then end the run it belonged to."""
        subject = msg.raw_message.subject
        run_id = RunId(subject.rsplit(".", 1)[-1])
        event_id = msg.headers.get("Nats-Msg-Id") or subject
        letter = {
            "service": self._service,
            "subject": subject,
            "event_id": event_id,
            "cause": cause,
            "tries": msg.raw_message.metadata.num_delivered,
            "ends_run": self._moves_runs,
            "whole": len(msg.body) <= LETTER_BYTES,
            "body": msg.body[:LETTER_BYTES].decode("utf-8", errors="replace"),
        }
        await self._publisher.store(
            json.dumps(letter).encode(),
            f"tocsin-parked.{self._service}.{run_id}",
            PARKED,
            headers={"Nats-Msg-Id": f"parked:{self._service}:{event_id}"},
        )
        if self._moves_runs:
            await self._work.fail(run_id, event_id, f"{self._service} gave up: {cause}")


def _decoder(model: type[M]) -> Callable[[StreamMessage[Any]], Awaitable[M]]:
    async def decode(msg: StreamMessage[Any]) -> M:
        try:
            return model.model_validate_json(msg.body)
        except ValidationError as error:
            raise PermanentError(
                f"a message that is no {model.__name__}: {error.error_count()} fault(s), first: "
                f"{error.errors(include_input=False, include_url=False)[0]}"
            ) from None

    return decode


async def _log_disconnect() -> None:
    log.warning("bus.disconnected")


async def _log_reconnect() -> None:
    log.info("bus.reconnected")
