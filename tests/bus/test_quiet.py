"""Quiet hours on a real bus: what was held is told by a clock that outlives the notifier."""

from datetime import UTC, datetime, timedelta

import pytest

from tocsin_contracts import Severity
from tocsin_kit import store
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.moves import ANY
from tocsin_kit.notices import Notices
from tocsin_kit.run_view import RunReader
from tocsin_kit.topology import TIMERS, TimerKind
from tocsin_notifier import graph
from tocsin_notifier.addressing import Addressing
from tocsin_notifier.handlers import Handlers
from tocsin_notifier.nodes import Nodes
from tocsin_notifier.rules.quiet import Quiet
from tocsin_testing import build
from tocsin_testing.fakes import FakeChannel, FakeClock
from tocsin_testing.harness import running, until

pytestmark = pytest.mark.servers

OPENED = build.incident_opened(alert=build.alert(severity=Severity.WARNING))
ENDED = build.run_finished(at=OPENED.at + timedelta(minutes=1))


def quiet_for(seconds):
    now = datetime.now(UTC)
    hours = {
        "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
        "start": (now - timedelta(hours=1)).time().isoformat(),
        "end": (now + timedelta(seconds=seconds)).time().isoformat(),
        "zone": "UTC",
    }
    return Quiet.model_validate({"hours": [hours]})


class Notifier:
    """The notifier with a channel that the test looks at."""

    def __init__(self, redis_url, quiet):
        self.channel = FakeChannel("chat")
        self._redis = store.connect(redis_url)
        self._raw = store.connect(redis_url, text=False)
        self._quiet = quiet

    def listen(self, bus):
        reader, notices = RunReader(self._redis), Notices(self._redis)
        addressing = Addressing(["chat"], FakeClock(datetime.now(UTC)), (), self._quiet)
        nodes = Nodes([self.channel], addressing, runs=reader, notices=notices, timers=bus)
        telling = Subgraph("notifier", graph.build(nodes), saver(self._raw))
        handlers = Handlers(telling, reader, notices)
        for event in (OPENED, ENDED):
            bus.on(type(event), handlers.tell)
        bus.on_timer(TimerKind.QUIET_END, handlers.wake, ANY)

    async def aclose(self):
        await self._redis.aclose()
        await self._raw.aclose()

    @property
    def shown(self):
        return [message.id for message in self.channel.sent]


async def test_p8_what_was_held_is_told_once_by_whoever_runs_when_quiet_hours_end(
    nats_url, redis_url
):
    quiet = quiet_for(5)
    first, second = Notifier(redis_url, quiet), Notifier(redis_url, quiet)
    try:
        async with running(
            nats_url, redis_url, first.listen, service="notifier", moves_runs=False
        ) as rig:
            for event in (OPENED, ENDED):
                await rig.bus.publish(event)
                await rig.settled(f"notifier-{event.topic.split('.')[1]}")
        async with running(
            nats_url, redis_url, second.listen, service="notifier", moves_runs=False
        ) as rig:

            async def shown():
                return first.shown + second.shown

            assert await until(shown, bool, bound=12) == [ENDED.id]
            await rig.settled("notifier-due-quiet-end", TIMERS)
            assert await shown() == [ENDED.id]
    finally:
        await first.aclose()
        await second.aclose()
