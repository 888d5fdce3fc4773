"""The whole pipeline as processes on real servers, on the demo's stage, for end-to-end tests."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from signal import Signals

import nats
from nats.errors import TimeoutError as NatsTimeoutError

from tocsin_cli import children
from tocsin_cli.client import Gateway, Ingest
from tocsin_cli.demo import proof, stage
from tocsin_cli.demo.stage import Stage
from tocsin_cli.settings import Access
from tocsin_cli.stack import SERVICES
from tocsin_cli.supervisor import Service, Supervisor
from tocsin_contracts import BY_TOPIC, PREFIX, Event, RunState
from tocsin_contracts.views import DecisionView, DeliveryReceipt, RunView
from tocsin_kit.embedded import NatsServer, ValkeyServer
from tocsin_kit.ensure import ensure
from tocsin_kit.errors import TocsinError
from tocsin_kit.processes import LOOPBACK, free_ports
from tocsin_kit.publishes import Identity
from tocsin_kit.topology import FACTS
from tocsin_testing import crashing
from tocsin_testing.crashing import CrashPoint

INGEST_TOKEN = "ingest-token-of-the-tests"
API_TOKEN = "api-token-of-the-tests"
FORGE_SECRET = "forge-secret-of-the-tests"
PASSWORDS = {who: f"password-of-{who}-in-tests" for who in Identity}
ACK_WAIT = 1.5
POLL = 0.05


@dataclass(frozen=True, slots=True)
class Crash:
    """Which service dies, and where; SIGSTOP only stops it there, until somebody continues it."""

    service: str
    point: CrashPoint
    by: Signals = Signals.SIGKILL


@dataclass(slots=True)
class Pipeline:
    """A running pipeline, and everything a test looks at."""

    scene: Stage
    gateway: Gateway
    ingest: Ingest
    nats_server: NatsServer
    valkey_server: ValkeyServer
    supervisor: Supervisor
    ingest_url: str
    log: list[str] = field(default_factory=list)

    async def fire(self, payload: bytes | None = None) -> DeliveryReceipt:
        """Deliver the alerts as Alertmanager does: again and again until ingest answers 2xx."""
        body = payload or self.scene.payload.read_bytes()
        async with asyncio.timeout(30):
            while True:
                try:
                    return await self.ingest.alertmanager(body)
                except TocsinError:
                    await asyncio.sleep(POLL)

    async def until(
        self, run_id: str, reached: Callable[[RunView], bool], seconds: float = 40
    ) -> RunView:
        """Return the run once it is as wanted; an error tells how it stood at the end."""
        seen: RunView | None = None
        try:
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        seen = await self.gateway.run(run_id)
                    except TocsinError:
                        await asyncio.sleep(POLL)
                        continue
                    if reached(seen):
                        return seen
                    await asyncio.sleep(POLL)
        except TimeoutError:
            state = seen.state if seen else "unknown"
            tail = "\n".join(self.log[-40:])
            raise AssertionError(f"run {run_id} stands at {state}\n{tail}") from None

    async def reach(self, run_id: str, *states: RunState, seconds: float = 40) -> RunView:
        """Return the run once it is in one of the states."""
        return await self.until(run_id, lambda run: run.state in states, seconds)

    async def approve(self, run_id: str) -> DecisionView | None:
        """Say yes to the plan that waits; None if the gateway died while it answered."""
        run = await self.reach(run_id, RunState.AWAITING_APPROVAL)
        assert run.plan is not None
        try:
            return await self.gateway.approve(run_id, run.plan.plan_hash)
        except TocsinError:
            return None

    async def facts(self) -> list[Event]:
        """Return every fact on the bus, in the order it was stored."""
        client = await nats.connect(self.nats_server.url)
        try:
            subscription = await client.jetstream().subscribe(
                f"{PREFIX}.>", ordered_consumer=True, stream=FACTS
            )
            found: list[Event] = []
            while True:
                try:
                    message = await subscription.next_msg(timeout=0.5)
                except NatsTimeoutError:
                    return found
                topic = message.subject.removeprefix(f"{PREFIX}.").rsplit(".", 1)[0]
                found.append(BY_TOPIC[topic].model_validate_json(message.data))
        finally:
            await client.close()

    @property
    def written(self) -> proof.Written:
        """What exists in the repository and beside it."""
        return proof.written(self.scene)


@asynccontextmanager
async def pipeline(
    folder: Path,
    *,
    crash: Crash | None = None,
    replicas: int = 1,
    settings: Mapping[str, str] | None = None,
) -> AsyncIterator[Pipeline]:
    """Start everything, yield when all of it is ready, leave nothing running.

    `settings` are variables that win over the usual ones of every service.
    """
    children.prepare()
    await asyncio.to_thread(children.warm_up)
    scene = stage.build(folder, datetime.now(UTC))
    lines: list[str] = []
    with (
        NatsServer(folder / "nats", passwords=PASSWORDS) as bus,
        ValkeyServer(folder / "valkey", passwords=PASSWORDS) as store,
    ):
        await ensure(bus.url, ack_wait=ACK_WAIT)
        common = _environment(scene) | dict(settings or {})
        services = [
            _service(name, replica, common | _addresses(name, bus, store), crash, folder)
            for name in SERVICES
            for replica in range(replicas)
        ]
        sink = lambda name, line: lines.append(f"{name}: {line}")  # noqa: E731 - one line is clearer
        async with Supervisor(services, sink) as supervisor:
            await supervisor.ready(60)
            urls = {service.name: service.ready_url.removesuffix("/ready") for service in services}
            gateway = Gateway(Access(url=urls["gateway-0"], token=API_TOKEN))
            ingest = Ingest(Access(url=urls["ingest-0"], token=INGEST_TOKEN))
            async with gateway, ingest:
                yield Pipeline(
                    scene, gateway, ingest, bus, store, supervisor, urls["ingest-0"], lines
                )
    denied = [line for line in lines if "bus.denied" in line or "NOPERM" in line]
    assert not denied, "\n".join(denied)


def _addresses(name: str, bus: NatsServer, store: ValkeyServer) -> dict[str, str]:
    """Every service has no more rights than it needs, as in a real deployment."""
    who = Identity(name)
    return {"TOCSIN_NATS_URL": bus.url_of(who), "TOCSIN_REDIS_URL": store.url_of(who)}


def _environment(scene: Stage) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")},
        **scene.world.environment(),
        "TOCSIN_LOG_FORMAT": "console",
        "TOCSIN_ACK_WAIT": str(ACK_WAIT),
        "TOCSIN_LEASE_SECONDS": str(ACK_WAIT),
        "TOCSIN_REPUBLISH_SECONDS": "0.3",
        "TOCSIN_APPROVERS": json.dumps(["local"]),
        "TOCSIN_INGEST_TOKENS": json.dumps([INGEST_TOKEN]),
        "TOCSIN_API_TOKENS": json.dumps({"local": API_TOKEN}),
        "TOCSIN_API_ROLES": json.dumps({"local": "admin"}),
        "TOCSIN_FORGE_SECRETS": json.dumps({"github": [FORGE_SECRET]}),
    }


def _service(
    name: str, replica: int, common: dict[str, str], crash: Crash | None, folder: Path
) -> Service:
    (port,) = free_ports(1)
    environment = {**common, f"TOCSIN_{name.upper()}_PORT": str(port)}
    module = f"tocsin_{name}.__main__"
    if crash and crash.service == name:
        module = crashing.__name__
        environment |= {
            crashing.SERVICE: name,
            crashing.POINT: crash.point.value,
            crashing.MARK: str(folder / "crashed"),
            crashing.SIGNAL: crash.by.name,
        }
    return Service(f"{name}-{replica}", module, environment, f"http://{LOOPBACK}:{port}/ready")
