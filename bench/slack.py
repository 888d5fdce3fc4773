"""How long after a click in Slack the message says so: the whole notifier, against a fake Slack.

Run it with `python bench/slack.py`. The yardstick is one bare call that edits a message, taken in
turns with the clicks; the aim is that 95 of 100 clicks are shown within two seconds.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any

import httpx

from tocsin_kit import approvals, ensure
from tocsin_kit.embedded import NatsServer, ValkeyServer
from tocsin_kit.moves import ANY
from tocsin_kit.outbox import Outbox
from tocsin_kit.service import Service
from tocsin_notifier import app
from tocsin_notifier.channels.slack.blocks import Shown
from tocsin_notifier.channels.slack.card import APPROVE
from tocsin_notifier.channels.slack.endpoint import PATH
from tocsin_notifier.channels.slack.web import Place, Web
from tocsin_testing import build
from tocsin_testing.slack.clicking import clicked, form, signed
from tocsin_testing.slack.server import SlackServer, serving
from tocsin_testing.slack.world import CHANNEL, SECRET, TOKEN

ONE_BY_ONE, AT_ONCE = 60, 20
AIM_SECONDS = 2.0


@dataclass
class Stage:
    """A notifier that runs in this process, and the Slack that it talks to."""

    service: Service
    slack: SlackServer
    http: httpx.AsyncClient
    web: Web

    async def ask(self, run_id: str) -> dict[str, Any]:
        """Put a plan to people, and return its message."""
        parts, now = self.service.parts, datetime.now(UTC)
        plan, due = build.plan(run_id=run_id), now + timedelta(hours=4)
        outbox = Outbox(parts.redis, "bench", approvals.read, parts.bus.publish)
        asked = build.approval_requested(run_id=run_id, plan=plan, expires_at=due, at=now)
        records = approvals.Approvals(parts.redis, outbox)
        await records.open(asked.run_id, plan.plan_hash, ("ana",), due)
        cause = build.alert_accepted(run_id=run_id, incident_key=run_id, id=f"before-{asked.id}")
        begin = await parts.runs.begin(cause, "action", ANY)
        for event in await parts.runs.commit(begin.lease, ANY, cause, [asked]):
            await parts.bus.publish(event)
        return await self.shown(f"Run {run_id} ")

    async def click(self, card: dict[str, Any]) -> float:
        """Approve, and return the seconds until the message says so."""
        body = form(clicked(card, APPROVE, response_url=self.slack.response_url))
        began = perf_counter()
        answer = await self.http.post(PATH, content=body, headers=signed(body, datetime.now(UTC)))
        answer.raise_for_status()
        while "Approved by ana" not in str(card["blocks"]):
            await self.slack.world.news()
        return perf_counter() - began

    async def shown(self, words: str) -> dict[str, Any]:
        """Return the newest message once it says these words."""
        while True:
            messages = self.slack.world.messages[-2:]
            for message in messages:
                if words in str(message["blocks"]) and "thread_ts" not in message:
                    return message
            await self.slack.world.news()

    async def yardstick(self, card: dict[str, Any]) -> float:
        """Return the seconds that one bare edit takes."""
        began = perf_counter()
        shown = Shown(card["text"], tuple(card["blocks"]))
        await self.web.update(Place(card["channel"], card["ts"]), shown, "bench")
        return perf_counter() - began


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    """Start servers, a fake Slack and the notifier."""
    async with AsyncExitStack() as stack:
        bus = stack.enter_context(NatsServer(folder / "nats"))
        store = stack.enter_context(ValkeyServer(folder / "valkey"))
        slack = await stack.enter_async_context(serving())
        given = {
            "NATS_URL": bus.url,
            "REDIS_URL": store.url,
            "LOG_LEVEL": "ERROR",
            "NOTIFY_CHANNELS": '["slack"]',
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_CHANNEL": CHANNEL,
            "SLACK_APPROVERS": '{"T0001:U0001": "ana"}',
            "SLACK_API_URL": slack.api_url,
            "SLACK_HOOKS_URL": slack.url,
        }
        os.environ.update({f"TOCSIN_{name}": value for name, value in given.items()})
        await ensure.ensure(bus.url, ack_wait=10)
        service = app.build()
        stack.push_async_callback(service.parts.aclose)
        for resource in service.resources:
            await stack.enter_async_context(resource)
        stack.push_async_callback(service.parts.bus.close)
        await service.parts.bus.start()
        transport = httpx.ASGITransport(service.http) if service.http else None
        client = httpx.AsyncClient(transport=transport, base_url="http://notifier")
        http = await stack.enter_async_context(client)
        web = await stack.enter_async_context(Web(TOKEN, slack.api_url))
        yield Stage(service, slack, http, web)


def row(name: str, taken: list[float], floor: float) -> str:
    cuts = quantiles(taken, n=20)
    return f"{name:12} {1000 * cuts[9]:8.1f} {1000 * cuts[18]:8.1f} {cuts[9] / floor:8.1f}"


async def main() -> None:
    with tempfile.TemporaryDirectory() as data:
        async with stage(Path(data)) as bench:
            cards = [await bench.ask(f"run-{number}") for number in range(ONE_BY_ONE + AT_ONCE)]
            single, bare = [], []
            for card in cards[:ONE_BY_ONE]:
                bare.append(await bench.yardstick(card))
                single.append(await bench.click(card))
            many = await asyncio.gather(*map(bench.click, cards[ONE_BY_ONE:]))
    floor = quantiles(bare, n=20)[9]
    print(f"{'':12} {'p50 ms':>8} {'p95 ms':>8} {'÷ edit':>8}")
    print(row("bare edit", bare, floor))
    print(row("one click", single, floor))
    print(row(f"{AT_ONCE} at once", many, floor))
    met = quantiles(single, n=20)[18] < AIM_SECONDS
    print(f"aim: p95 of one click below {AIM_SECONDS:g} s: {'met' if met else 'missed'}")


if __name__ == "__main__":
    asyncio.run(main())
