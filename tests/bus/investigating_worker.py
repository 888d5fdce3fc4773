"""A worker that is killed by the system while it asks its model for the second time."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.state import TYPES
from tocsin_kit import graphs, store
from tocsin_kit.clock import SystemClock
from tocsin_kit.ledger import RedisLedger
from tocsin_kit.run_view import RunReader
from tocsin_rca import app
from tocsin_rca.handlers import Listeners
from tocsin_testing.crowd import FakeLateNews
from tocsin_testing.harness import running
from tocsin_testing.investigating import Workplace, looks, world


class Dying:
    """Answers once, then takes the process with it."""

    name = "scripted/model"

    def __init__(self):
        self._asked = False

    async def answer(self, question, on_text=None):
        if self._asked:
            os.kill(os.getpid(), signal.SIGKILL)
        self._asked = True
        return looks()


async def main(nats_url, redis_url, folder):
    """Work until the end comes."""
    redis = store.connect(redis_url)
    place = Workplace(
        world=world(folder, SystemClock()),
        runs=RunReader(redis),
        saver=graphs.saver(store.connect(redis_url, text=False), *TYPES),
        engine=Engine(ledger=RedisLedger(redis)),
    )
    handlers, _ = place.worker(Dying())

    def subscribe(bus):
        app.listen(bus, place.runs, handlers, Listeners(FakeLateNews()), stoppable=False)

    async with running(nats_url, redis_url, subscribe):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
