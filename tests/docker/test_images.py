"""The bus and the store of docker-compose.yml, in containers: one event goes all the way round."""

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from docker.errors import DockerException
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import LogMessageWaitStrategy

import docker
from tocsin_contracts import IncidentOpened, RunState
from tocsin_kit import users
from tocsin_kit.moves import move
from tocsin_testing import build
from tocsin_testing.harness import running

pytestmark = pytest.mark.docker

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
PASSWORD = "p-of-this-test"


@pytest.fixture(scope="module", autouse=True)
def engine():
    """Skip, and say why, where no container engine answers."""
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        why_not = _no_engine()
        gc.collect()  # the client leaves its socket open when nobody answers
    if why_not:
        pytest.skip(why_not)


def _no_engine() -> str:
    try:
        docker.from_env(timeout=5).close()
    except DockerException as error:
        return f"no container engine answers: {error}"
    return ""


@contextmanager
def container(name: str, port: int, says: str) -> Iterator[str]:
    """Run a server as docker-compose.yml runs it, on a disk of its own; yield its address."""
    one = COMPOSE[name]
    hardened = {key: one[key] for key in ("read_only", "cap_drop", "security_opt")}
    server = (
        DockerContainer(one["image"], user=one.get("user"))
        .with_command(one["command"])
        .with_exposed_ports(port)
        .with_envs(**{users.variable(who): PASSWORD for who in users.OF_THE_BUS})
        .with_kwargs(**hardened, tmpfs={"/data": "", "/tmp": ""})
        .waiting_for(LogMessageWaitStrategy(says))
    )
    for volume in one["volumes"]:
        host, path, *mode = volume.split(":")
        if mode == ["ro"]:
            server.with_volume_mapping(str(ROOT / host), path, "ro")
    with server:
        yield f"{server.get_container_host_ip()}:{server.get_exposed_port(port)}"


@pytest.fixture(scope="module")
def nats_address():
    with container("nats", 4222, "Server is ready") as address:
        yield address


@pytest.fixture(scope="module")
def valkey_address():
    with container("valkey", 6379, "Ready to accept connections") as address:
        yield address


async def test_one_event_goes_round_through_the_images(nats_address, valkey_address):
    handled = []

    async def on_incident_opened(event):
        handled.append(event.id)
        return build.hypothesis_formed(run_id=event.run_id)

    def subscribe(bus):
        bus.on(IncidentOpened, on_incident_opened, move(RunState.RECEIVED))

    accepted = build.alert_accepted()
    opened = build.incident_opened()
    bus_url = f"nats://owner:{PASSWORD}@{nats_address}"
    store_url = f"redis://owner:{PASSWORD}@{valkey_address}/0"
    async with running(bus_url, store_url, subscribe) as rig:
        await rig.runs.create(accepted)
        await rig.bus.publish(opened)
        await rig.settled("rca-opened")
        assert handled == [opened.id]
        assert [type(fact).__name__ for fact in await rig.facts()] == [
            "IncidentOpened",
            "HypothesisFormed",
        ]
        run = await rig.reader.get(opened.run_id)
        assert run is not None
        assert run.state is RunState.VALIDATING
