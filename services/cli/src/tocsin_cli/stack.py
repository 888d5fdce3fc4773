"""Put one machine's Tocsin together: servers, streams, services, and where each listens."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from tocsin_cli import children
from tocsin_cli.settings import Settings
from tocsin_cli.supervisor import Service, Sink, Supervisor
from tocsin_cli.workspace import Tokens, Up, Workspace
from tocsin_cli.world import World
from tocsin_kit import publishes
from tocsin_kit.embedded import NatsServer, ValkeyServer
from tocsin_kit.ensure import ensure
from tocsin_kit.errors import PermanentError
from tocsin_kit.processes import LOOPBACK, free_ports

SERVICES = ("ingest", "rca", "validation", "action", "notifier", "gateway")
READY_SECONDS = 60.0

USUAL_PORTS = {"ingest": 9480, "gateway": 9481, "notifier": 9486}
"""Where senders, people and their clicks look for a Tocsin."""

_ONLY_FOR = {
    "TOCSIN_INGEST_TOKENS": "ingest",
    "TOCSIN_API_TOKENS": "gateway",
    "TOCSIN_FORGE_SECRETS": "ingest",
    "TOCSIN_API_TOKEN": "cli",
    "TOCSIN_INGEST_TOKEN": "cli",
    "TOCSIN_NOTIFY_WEBHOOK_URL": "notifier",
    "TOCSIN_NOTIFY_WEBHOOK_SECRET": "notifier",
    "TOCSIN_SLACK_APP_TOKEN": "notifier",
    "TOCSIN_SLACK_BOT_TOKEN": "notifier",
    "TOCSIN_SLACK_SIGNING_SECRET": "notifier",
    "TOCSIN_EXTERNAL_AGENTS": "rca",
    "TOCSIN_PROMETHEUS_TOKEN": "rca",
}


@dataclass(frozen=True, slots=True)
class Engines:
    """The bus and the store, and the processes of those that are ours.

    `own` are settings of single services: where each connects under its own name.
    """

    nats_url: str
    redis_url: str
    pids: Mapping[str, int]
    own: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@asynccontextmanager
async def running(
    workspace: Workspace,
    world: World,
    sink: Sink,
    *,
    usual: Mapping[str, int] = USUAL_PORTS,
    only: Sequence[str] = SERVICES,
    secure: bool = False,
) -> AsyncIterator[Up]:
    """Start everything, yield when every service is ready, and leave nothing running.

    `only` these services are started; the addresses of others lead nowhere.

    Servers are started only for what TOCSIN_NATS_URL and TOCSIN_REDIS_URL do not name. A service
    listens at its usual port if that is free. With `secure` each service has a password of its own
    for both servers, and may do there what it needs; then both have to be ours.
    """
    children.prepare()
    settings = Settings.load()
    tokens = workspace.tokens()
    with ExitStack() as servers:
        engines = _engines(settings, workspace, servers, secure=secure)
        await asyncio.gather(
            ensure(engines.nats_url, ack_wait=settings.ack_wait),
            asyncio.to_thread(children.warm_up),
        )
        listens = ports(usual)
        environment = _environment(engines, tokens, listens) | world.environment()
        for name, line in moved(usual, listens, environment):
            sink(name, line)
        services = [_service(name, {**environment, **engines.own.get(name, {})}) for name in only]
        async with Supervisor(services, sink) as supervisor:
            await supervisor.ready(READY_SECONDS)
            up = _up(engines, environment, supervisor.pids)
            workspace.announce(up)
            yield up


def _up(engines: Engines, environment: Mapping[str, str], pids: Mapping[str, int]) -> Up:
    return Up(
        gateway_url=_url("gateway", environment),
        ingest_url=_url("ingest", environment),
        nats_url=engines.nats_url,
        redis_url=engines.redis_url,
        pids={"supervisor": os.getpid(), **engines.pids, **pids},
    )


def _engines(
    settings: Settings, workspace: Workspace, stack: ExitStack, *, secure: bool
) -> Engines:
    if secure:
        return _secured(settings, workspace, stack)
    given = settings.model_fields_set
    engines = Engines(settings.nats_url, settings.redis_url, {})
    if "nats_url" not in given:
        nats = stack.enter_context(NatsServer(workspace.folder / "nats"))
        engines = replace(engines, nats_url=nats.url, pids={nats.name: nats.pid or 0})
    if "redis_url" not in given:
        valkey = stack.enter_context(ValkeyServer(workspace.folder / "valkey"))
        pids = {**engines.pids, valkey.name: valkey.pid or 0}
        engines = replace(engines, redis_url=valkey.url, pids=pids)
    return engines


def _secured(settings: Settings, workspace: Workspace, stack: ExitStack) -> Engines:
    if named := settings.model_fields_set & {"nats_url", "redis_url"}:
        raise PermanentError(
            f"--secure is for servers that are started here, and TOCSIN_{min(named).upper()} names "
            "another: unset it, or give that server users of its own (docs/security.md)"
        )
    passwords, prefix = workspace.passwords(), settings.redis_prefix
    nats = stack.enter_context(NatsServer(workspace.folder / "nats", passwords=passwords))
    valkey = stack.enter_context(
        ValkeyServer(workspace.folder / "valkey", passwords=passwords, prefix=prefix)
    )
    own = {
        who.value: {"TOCSIN_NATS_URL": nats.url_of(who), "TOCSIN_REDIS_URL": valkey.url_of(who)}
        for who in publishes.SERVICES
    }
    pids = {nats.name: nats.pid or 0, valkey.name: valkey.pid or 0}
    return Engines(nats.url, valkey.url, pids, own)


def _environment(engines: Engines, tokens: Tokens, listens: Mapping[str, str]) -> dict[str, str]:
    """Return what every service starts from; what the user set in the environment wins."""
    ours = {
        "TOCSIN_NATS_URL": engines.nats_url,
        "TOCSIN_REDIS_URL": engines.redis_url,
        "TOCSIN_LOG_FORMAT": "console",
        "TOCSIN_APPROVERS": json.dumps(["local"]),
        "TOCSIN_MCP_TRUST_FIRST": "true",
        "TOCSIN_INGEST_TOKENS": json.dumps([tokens.ingest_token]),
        "TOCSIN_API_TOKENS": json.dumps({"local": tokens.api_token}),
        "TOCSIN_API_ROLES": json.dumps({"local": "admin"}),
    }
    return {**ours, **listens, **os.environ}


def ports(usual: Mapping[str, int]) -> dict[str, str]:
    """Return a free port for each service: its usual one, if it has one that is free."""
    spare = dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))
    wanted = {name: port for name, port in usual.items() if _is_free(port)}
    return {_port_name(name): str(port) for name, port in (spare | wanted).items()}


def moved(
    usual: Mapping[str, int], chosen: Mapping[str, str], environment: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return, for each service that people will look for in vain, a line that says so."""
    return [
        (name, f"another program listens on port {port}; this service takes {chosen[variable]}")
        for name, port in usual.items()
        if environment[variable := _port_name(name)] == chosen[variable] != str(port)
    ]


def _service(name: str, environment: Mapping[str, str]) -> Service:
    """A secret goes only to the service that checks it."""
    known = {k: v for k, v in environment.items() if _ONLY_FOR.get(k, name) == name}
    ready_url = f"{_url(name, environment)}/ready"
    return Service(name, f"tocsin_{name}.__main__", known, ready_url)


def _url(name: str, environment: Mapping[str, str]) -> str:
    return f"http://{LOOPBACK}:{environment[_port_name(name)]}"


def _port_name(name: str) -> str:
    return f"TOCSIN_{name.upper()}_PORT"


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) != 0
