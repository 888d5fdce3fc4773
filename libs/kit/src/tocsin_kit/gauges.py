"""Gauges of the whole deployment for Prometheus: who is behind, what fills up, what does not move.

Whatever nobody could see has no value, so that it is never taken for zero.
"""

import asyncio
from collections.abc import Awaitable, Callable

from tocsin_contracts.status import Condition, StatusView
from tocsin_kit import logging
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import TransientError
from tocsin_kit.metrics import Gauge
from tocsin_kit.run_view import Standing

EVERY_SECONDS = 15.0

LAG = Gauge(
    "tocsin_consumer_lag",
    "Messages that a place in a stream has yet to get.",
    ["service", "durable"],
)
UNSETTLED = Gauge(
    "tocsin_consumer_unsettled", "Messages given out and not settled.", ["service", "durable"]
)
AGAIN = Gauge(
    "tocsin_consumer_redelivered", "Of these, given more than once.", ["service", "durable"]
)
FILL = Gauge("tocsin_stream_fill_ratio", "How full a stream is; 1 is full.", ["stream"])
MESSAGES = Gauge("tocsin_stream_messages", "Messages that a stream holds.", ["stream"])
PROCESSES = Gauge("tocsin_service_processes", "Processes that told of themselves.", ["service"])
HEALTHY = Gauge("tocsin_part_healthy", "1 for a part that is well, 0 for any other.", ["part"])
RUNS = Gauge("tocsin_runs_open", "Runs that have not ended, by their state.", ["state"])
STILL = Gauge(
    "tocsin_run_still_seconds", "How long the run that moved least recently did not.", ["state"]
)

log = logging.get(__name__)


class Gauges:
    """Keeps the gauges true to a look at everything, in whichever process runs it."""

    def __init__(
        self,
        look: Callable[[], Awaitable[StatusView]],
        standing: Callable[[], Awaitable[list[Standing]]],
        clock: Clock | None = None,
    ) -> None:
        self._look = look
        self._standing = standing
        self._clock = clock or SystemClock()

    async def run(self) -> None:
        """Look again and again until cancelled; servers that are away end nothing."""
        while True:
            await self.tell()
            await asyncio.sleep(EVERY_SECONDS)

    async def tell(self) -> None:
        """Look once."""
        show(await self._look())
        try:
            standing = await self._standing()
        except TransientError as error:
            log.info("gauges.no_runs", why=str(error))
            standing = []
        self._show_runs(standing)

    def _show_runs(self, standing: list[Standing]) -> None:
        now = self._clock.now()
        for gauge in (RUNS, STILL):
            gauge.clear()
        for one in standing:
            RUNS.labels(one.state.value).set(one.runs)
            STILL.labels(one.state.value).set((now - one.oldest).total_seconds())


def show(seen: StatusView) -> None:
    """Set every gauge to what was seen, and forget those of what was not."""
    for gauge in (LAG, UNSETTLED, AGAIN, FILL, MESSAGES, PROCESSES, HEALTHY):
        gauge.clear()
    for service in seen.services:
        told = [one for one in service.instances if one.condition is not Condition.UNKNOWN]
        PROCESSES.labels(service.service).set(len(told))
        for place in service.consumers:
            _set(LAG, place.lag, service.service, place.durable)
            _set(UNSETTLED, place.ack_pending, service.service, place.durable)
            _set(AGAIN, place.redelivered, service.service, place.durable)
    for stream in seen.streams:
        _set(FILL, stream.fill, stream.stream)
        _set(MESSAGES, stream.messages, stream.stream)
    for part, condition in _parts(seen):
        HEALTHY.labels(part).set(condition is Condition.HEALTHY)


def _parts(seen: StatusView) -> list[tuple[str, Condition]]:
    return [
        *((one.service, one.condition) for one in seen.services),
        *((one.stream, one.condition) for one in seen.streams),
        ("store", seen.store.condition),
    ]


def _set(gauge: Gauge, value: float | None, *labels: str) -> None:
    if value is not None:
        gauge.labels(*labels).set(value)
