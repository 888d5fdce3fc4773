"""The whole notifier with Slack on a real bus and store: from a question to its answer."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from time import monotonic

import httpx
import pytest

from tocsin_contracts import ApprovalGranted, RunState
from tocsin_kit import approvals, ensure
from tocsin_kit.moves import ANY
from tocsin_kit.outbox import Outbox
from tocsin_notifier import app
from tocsin_notifier.channels.slack.card import APPROVE
from tocsin_notifier.channels.slack.endpoint import PATH
from tocsin_testing import build
from tocsin_testing.harness import LEASE, until
from tocsin_testing.slack.clicking import buttons, clicked, form, signed
from tocsin_testing.slack.server import serving
from tocsin_testing.slack.world import APP_TOKEN, CHANNEL, SECRET, TOKEN, rate_limited
from tocsin_testing.wire import wire

pytestmark = pytest.mark.servers

RUNS = 12
SLOWEST_SECONDS = 2.0


class Notifier:
    """The service as it is wired in production, its bus started, and the fake Slack around it."""

    def __init__(self, service, slack, http, bus):
        self.parts, self.slack, self.http, self.bus = service.parts, slack, http, bus

    async def did(self, event):
        """Keep what a service concluded about a run, and publish it."""
        cause = build.alert_accepted(
            run_id=event.run_id, incident_key=f"incident of {event.run_id}", id=f"before-{event.id}"
        )
        begin = await self.parts.runs.begin(cause, "action", ANY)
        for stored in await self.parts.runs.commit(begin.lease, ANY, cause, [event]):
            await self.parts.bus.publish(stored)

    async def ask(self, run_id):
        now = datetime.now(UTC)
        plan = build.plan(run_id=run_id)
        due = now + timedelta(hours=4)
        outbox = Outbox(self.parts.redis, "test", approvals.read, self.parts.bus.publish)
        records = approvals.Approvals(self.parts.redis, outbox)
        await records.open(run_id, plan.plan_hash, ("ana",), due)
        asked = build.approval_requested(run_id=run_id, plan=plan, expires_at=due, at=now)
        await self.did(asked)

    async def click(self, card):
        body = form(clicked(card, APPROVE, response_url=self.slack.response_url))
        return await self.http.post(PATH, content=body, headers=signed(body, datetime.now(UTC)))

    def card(self, run_id):
        return next((m for m in self.slack.world.parents if f"Run {run_id} " in str(m)), None)

    async def settled(self):
        """Wait until the notifier has settled everything."""

        async def waiting():
            return [name for name in await self.bus.waiting() if name.startswith("notifier-")]

        await until(waiting, lambda names: not names, 10)

    async def shown(self, run_id, words):
        async def card():
            return self.card(run_id)

        return await until(card, lambda seen: seen is not None and words in str(seen), 10)


@pytest.fixture
async def notifier(nats_url, redis_url, monkeypatch):
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(serving())
        for name, value in {
            "NATS_URL": nats_url,
            "REDIS_URL": redis_url,
            "ACK_WAIT": str(LEASE),
            "LEASE_SECONDS": str(LEASE),
            "NOTIFY_CHANNELS": '["slack"]',
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_CHANNEL": CHANNEL,
            "SLACK_APPROVERS": '{"T0001:U0001": "ana"}',
            "SLACK_API_URL": slack.api_url,
            "SLACK_HOOKS_URL": slack.url,
        }.items():
            monkeypatch.setenv(f"TOCSIN_{name}", value)
        await ensure.ensure(nats_url, ack_wait=LEASE)
        service = app.build()
        stack.push_async_callback(service.parts.aclose)
        for resource in service.resources:
            await stack.enter_async_context(resource)
        stack.push_async_callback(service.parts.bus.close)
        await service.parts.bus.start()
        running = [asyncio.ensure_future(start()) for start in service.background]
        stack.callback(lambda: [task.cancel() for task in running])
        http = await stack.enter_async_context(
            httpx.AsyncClient(
                transport=httpx.ASGITransport(service.http), base_url="http://notifier"
            )
        )
        bus = await stack.enter_async_context(wire(nats_url))
        yield Notifier(service, slack, http, bus)
        for task in running:
            task.cancel()
        await asyncio.wait(running)


async def test_p7_after_a_click_the_message_says_so_within_two_seconds(notifier):
    runs = [f"run-{number}" for number in range(RUNS)]
    for run_id in runs:
        await notifier.ask(run_id)
    cards = [await notifier.shown(run_id, "Waiting for a decision") for run_id in runs]
    waits = []
    for run_id, card in zip(runs, cards, strict=True):
        began = monotonic()
        assert (await notifier.click(card)).status_code == 200
        await notifier.shown(run_id, "Approved by ana")
        waits.append(monotonic() - began)
    waits.sort()
    assert waits[int(RUNS * 0.95)] < SLOWEST_SECONDS, waits
    await notifier.settled()
    stored = [message.subject for message in await notifier.bus.stored()]
    granted = [subject for subject in stored if ApprovalGranted.topic in subject]
    assert len(granted) == RUNS
    assert len(notifier.slack.world.parents) == RUNS


async def test_p8_what_slack_could_not_take_comes_when_it_can(notifier):
    world = notifier.slack.world
    world.faults["chat.postMessage"] = [rate_limited(1)]
    await notifier.ask("r1")
    await notifier.did(build.run_finished(outcome=RunState.CANCELLED))
    await notifier.shown("r1", "Cancelled")
    await notifier.settled()
    (card,) = world.parents
    assert APPROVE not in str(card)
    assert len(world.replies) == 2


async def test_a_click_over_the_socket_decides_too(notifier):
    await notifier.ask("r1")
    card = await notifier.shown("r1", "Waiting for a decision")
    assert APPROVE in buttons(card)
    payload = clicked(card, APPROVE, response_url=notifier.slack.response_url)
    assert await notifier.slack.send(payload) == {"envelope_id": "e1"}
    await notifier.shown("r1", "Approved by ana")
