"""Run one service: bus, HTTP port and background tasks together, until a signal ends them."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tocsin_kit import logging, redaction, secret_files
from tocsin_kit.errors import NEVER_STARTS, PermanentError, TransientError
from tocsin_kit.health import Fallback, Health
from tocsin_kit.heartbeat import Heart
from tocsin_kit.live_settings import LiveStore
from tocsin_kit.origins import Explained, explain
from tocsin_kit.parts import Parts
from tocsin_kit.patience import TimelyProtocol
from tocsin_kit.redaction import Redactor
from tocsin_kit.settings import ServiceSettings

DRAIN_SECONDS = 8
MAX_MESSAGE = 64 * 1024
"""Bytes of a message that somebody sends over a WebSocket."""

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that runs in one process.

    Resources are open from before the first message until after the last one. `secrets` are
    those that no setting holds; no log line shows them.
    """

    settings: ServiceSettings
    port: int
    parts: Parts
    http: ASGIApp | None = None
    background: Sequence[Callable[[], Awaitable[None]]] = field(default=())
    resources: Sequence[AbstractAsyncContextManager[Any]] = field(default=())
    fallback: Fallback | None = None
    notice: Callable[[], str] | None = None
    secrets: Collection[str] = field(default=(), repr=False)


def main(build: Callable[[Sequence[str]], Service]) -> None:
    """Build the service from the command line, run it, and exit with what became of it.

    NEVER_STARTS says that nothing will be better the next time.
    """
    try:
        secret_files.take(os.environ)
        service = build(sys.argv[1:])
        explained = explain(type(service.settings), sys.argv[1:])
        logging.configure(service.settings, service.secrets)
        redaction.know({*logging.secrets_of(service.settings), *service.secrets})
    except PermanentError as error:
        sys.stderr.write(f"tocsin: {error}\n")
        sys.exit(NEVER_STARTS)
    try:
        asyncio.run(run(service, explained))
    except Exception:
        log.exception("service.died", service=service.settings.service)
        sys.exit(1)


async def run(service: Service, explained: Sequence[Explained] = ()) -> None:
    """Run until SIGTERM or SIGINT; then finish what is in flight and close everything."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server, bus = _Server(_config(service)), service.parts.bus
    async with AsyncExitStack() as stack:
        stack.push_async_callback(service.parts.aclose)
        opened = await stack.enter_async_context(AsyncExitStack())
        stopped = asyncio.ensure_future(stop.wait())
        serving = asyncio.create_task(server.serve())
        starting = asyncio.create_task(_start(service, opened))
        stack.push_async_callback(bus.close)
        tasks: list[asyncio.Future[Any]] = [starting]
        await _first(stopped, serving, starting)
        if not stopped.done():
            background = (*service.background, *_watching(service, explained))
            tasks = [asyncio.ensure_future(start()) for start in background]
            log.info("service.started", port=service.port)
            await _first(stopped, serving, *tasks)
        log.info("service.stopping")
        server.should_exit = True
        for task in (stopped, *tasks):
            task.cancel()
        await asyncio.wait([stopped, *tasks], timeout=DRAIN_SECONDS)
        await serving


def _watching(
    service: Service, explained: Sequence[Explained]
) -> Sequence[Callable[[], Awaitable[None]]]:
    """Return what every service does beside its work: tell how it is, and hear what changed."""
    parts, settings = service.parts, service.settings
    store = LiveStore(parts.redis)
    parts.live.on_change(lambda now: logging.set_level(now.log_level or settings.log_level))

    async def tell() -> None:
        try:
            await store.tell(settings.service, explained)
        except TransientError as error:
            log.info("service.settings_not_told", why=str(error))
        await parts.live.run(store)

    return (_heart(service).run, tell)


def _heart(service: Service) -> Heart:
    bus, settings = service.parts.bus, service.settings
    return Heart(
        service.parts.redis,
        settings.service,
        vitals=bus.vitals,
        connected=lambda: bus.connected,
        notice=service.notice,
        redactor=Redactor({*logging.secrets_of(settings), *service.secrets}),
    )


async def _start(service: Service, opened: AsyncExitStack) -> None:
    for resource in service.resources:
        await opened.enter_async_context(resource)
    await service.parts.bus.start()


async def _first(*tasks: "asyncio.Future[Any]") -> None:
    """Wait for the first to end; a failure of any of them is ours."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


def _config(service: Service) -> uvicorn.Config:
    health = Health(service.parts.bus, service.parts.redis, service.fallback, service.notice)
    return uvicorn.Config(
        _app(health.routes(), service.http),
        host=service.settings.host,
        port=service.port,
        log_config=None,
        access_log=False,
        http=TimelyProtocol,
        proxy_headers=False,  # a peer is who connects, not whom a header names
        lifespan="off",
        server_header=False,
        ws_max_size=MAX_MESSAGE,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )


def _app(common: list[Route], own: ASGIApp | None) -> ASGIApp:
    """Put the routes of every service beside a service's own; a mount would cost each request."""
    app, paths = Starlette(routes=common), frozenset(route.path for route in common)

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        chosen = app if own is None or scope.get("path") in paths else own
        await chosen(scope, receive, send)

    return either


class _Server(uvicorn.Server):
    """A server that leaves the process's signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
