"""The whole notifier with its channels on a real bus and store: from a fact to what people get."""

import base64
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from aiohttp import web
from standardwebhooks import Webhook

from tocsin_contracts import Severity
from tocsin_kit import ensure
from tocsin_kit.processes import LOOPBACK
from tocsin_notifier import app
from tocsin_testing import build
from tocsin_testing.harness import until
from tocsin_testing.wire import wire

pytestmark = pytest.mark.servers

PATIENCE = 8.0
"""Seconds that a worker may be busy: whoever loses its lease while it sends, sends again."""

SECRET = f"whsec_{base64.b64encode(b's' * 32).decode()}"
TABLE = """
[notifier]
notify_channels = ["chat"]
public_url = "https://tocsin.example.com"

[[notifier.notify.channels]]
name = "audit"
type = "webhook"
url = { env = "AUDIT_URL" }
secret = { env = "AUDIT_SECRET" }

[[notifier.notify.channels]]
name = "payments"
type = "teams"
url = { env = "PAYMENTS_URL" }

[[notifier.notify.channels]]
name = "chat"
type = "mattermost"
url = { env = "CHAT_URL" }

[[notifier.notify.routes]]
team = "payments"
to = ["payments", "audit"]
"""
OPENED = build.incident_opened(team="payments", alert=build.alert(severity=Severity.CRITICAL))
OTHER = build.incident_opened(run_id="r2", team="search")
ENDED = build.run_finished()


class Receiver:
    """Programs on the other side: they keep what they got, and may first want to be left alone."""

    def __init__(self):
        self.got = {}
        self.busy = {"/audit"}
        self.gone = set()

    async def take(self, request):
        if request.path in self.gone:
            return web.Response(status=404)
        if request.path in self.busy:
            self.busy.discard(request.path)
            return web.Response(status=429, headers={"Retry-After": "1"})
        self.got.setdefault(request.path, []).append((await request.read(), request.headers))
        return web.Response(status=202)

    def texts(self, path):
        return [body.decode() for body, _ in self.got.get(path, [])]


@asynccontextmanager
async def receiving():
    receiver = Receiver()
    served = web.Application()
    served.router.add_post("/{any}", receiver.take)
    runner = web.AppRunner(served)
    await runner.setup()
    try:
        site = web.TCPSite(runner, LOOPBACK, 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield receiver, f"http://{host}:{port}"
    finally:
        await runner.cleanup()


@pytest.fixture
async def world(nats_url, redis_url, monkeypatch, tmp_path):
    table = tmp_path / "tocsin.toml"
    table.write_text(TABLE, encoding="utf-8")
    async with AsyncExitStack() as stack:
        receiver, url = await stack.enter_async_context(receiving())
        for name, value in {
            "TOCSIN_CONFIG": str(table),
            "TOCSIN_NATS_URL": nats_url,
            "TOCSIN_REDIS_URL": redis_url,
            "TOCSIN_ACK_WAIT": str(PATIENCE),
            "TOCSIN_LEASE_SECONDS": str(PATIENCE),
            "AUDIT_URL": f"{url}/audit",
            "AUDIT_SECRET": SECRET,
            "PAYMENTS_URL": f"{url}/payments",
            "CHAT_URL": f"{url}/chat",
        }.items():
            monkeypatch.setenv(name, value)
        await ensure.ensure(nats_url, ack_wait=PATIENCE)
        service = app.build()
        stack.push_async_callback(service.parts.aclose)
        stack.push_async_callback(service.parts.bus.close)
        await service.parts.bus.start()
        bus = await stack.enter_async_context(wire(nats_url))
        yield receiver, service.parts.bus, bus


async def settled(bus):
    async def waiting():
        return [name for name in await bus.waiting() if name.startswith("notifier-")]

    await until(waiting, lambda names: not names, 15)


async def test_p8_each_team_hears_of_its_runs_once_to_the_end_though_a_channel_was_busy(world):
    receiver, service, bus = world
    for event in (OPENED, OTHER):
        await service.publish(event)
    await settled(bus)
    await service.publish(ENDED)
    await settled(bus)
    assert ["Investigating" in text for text in receiver.texts("/payments")] == [True, False]
    assert "Run ended" in receiver.texts("/payments")[1]
    assert "https://tocsin.example.com/runs/r1" in receiver.texts("/payments")[0]
    assert [text.count("Investigating") for text in receiver.texts("/chat")] == [1]
    signed = [Webhook(SECRET).verify(*one) for one in receiver.got["/audit"]]
    assert [one["data"]["id"] for one in signed] == [OPENED.id, ENDED.id]


async def test_p6_an_address_that_is_gone_is_parked_with_what_to_look_at_and_not_shown(world):
    receiver, service, bus = world
    receiver.gone = {"/payments"}
    await service.publish(OPENED)
    await settled(bus)
    assert len(receiver.texts("/audit")) == 1
    (letter,) = await bus.stored("TOCSIN_PARKED")
    assert b"channel 'payments': answered 404" in letter.data
    assert b"PAYMENTS_URL" in letter.data
    assert b"/payments" not in letter.data
