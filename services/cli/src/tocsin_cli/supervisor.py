"""Keep the services running: start them, wait until they are ready, restart them, stop them."""

import asyncio
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx

from tocsin_cli.children import Child
from tocsin_cli.lines import lines
from tocsin_kit.backoff import Backoff
from tocsin_kit.errors import NEVER_STARTS, PermanentError

Sink = Callable[[str, str], None]
"""Takes the name of a service and a line of its output."""

_DEATHS_BEFORE_READY = 5
_TAIL = 20
_PROBE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Service:
    """What to run, and where it says that it is ready."""

    name: str
    module: str
    environment: Mapping[str, str]
    ready_url: str


class Supervisor:
    """Runs services from entering it to leaving it; afterwards none of their processes is left.

    A service has `grace` seconds to end after SIGTERM, then it is killed.
    """

    def __init__(
        self,
        services: Sequence[Service],
        sink: Sink,
        *,
        grace: float = 10.0,
        backoff: Callable[[], Backoff] = Backoff,
    ) -> None:
        self._services = services
        self._sink = sink
        self._grace = grace
        self._backoff = backoff
        self._children: dict[str, Child] = {}
        self._tails = {service.name: deque[str](maxlen=_TAIL) for service in services}
        self._ready: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def pids(self) -> dict[str, int]:
        """The process of each service that runs right now."""
        return {name: child.pid for name, child in self._children.items()}

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._keep(service)) for service in self._services]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def ready(self, seconds: float) -> None:
        """Return when every service is ready; PermanentError names those that never get there."""
        probing = asyncio.create_task(self._all_ready())
        try:
            done, _ = await asyncio.wait(
                (probing, *self._tasks), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            probing.cancel()
        for task in done:
            task.result()
        if not done:
            late = [s.name for s in self._services if s.name not in self._ready]
            raise PermanentError(
                f"not ready after {seconds:g} s: {', '.join(late)}\n"
                + "\n".join(self._last_words(name) for name in late)
            )

    async def _all_ready(self) -> None:
        async with httpx.AsyncClient(timeout=1.0, trust_env=False) as http:
            await asyncio.gather(*(self._one_ready(http, service) for service in self._services))

    async def _one_ready(self, http: httpx.AsyncClient, service: Service) -> None:
        while service.name not in self._ready:
            if await _answers(http, service.ready_url):
                self._ready.add(service.name)
            else:
                await asyncio.sleep(_PROBE_SECONDS)

    async def _keep(self, service: Service) -> None:
        backoff = self._backoff()
        deaths = 0
        while True:
            started = time.monotonic()
            ending = await self._live(service)
            deaths += service.name not in self._ready
            if deaths and ending == _ending(NEVER_STARTS):
                raise PermanentError(
                    f"{service.name} does not start\n{self._last_words(service.name)}"
                )
            if deaths == _DEATHS_BEFORE_READY:
                raise PermanentError(
                    f"{service.name} died {deaths} times before it was ready, last by {ending}\n"
                    + self._last_words(service.name)
                )
            wait = backoff.after(time.monotonic() - started)
            self._say(service.name, f"ended by {ending}; starting again in {wait:g} s")
            await asyncio.sleep(wait)

    async def _live(self, service: Service) -> str:
        try:
            child = Child.start(service.name, service.module, service.environment)
        except (OSError, EOFError) as error:
            return f"a failed start ({error})"
        self._children[service.name] = child
        output = asyncio.create_task(self._pump(service.name, child.output))
        try:
            await _exited(child)
            return _ending(child.exit_code or 0)
        finally:
            await self._end(child)
            del self._children[service.name]
            await asyncio.wait((output,), timeout=1.0)
            output.cancel()

    async def _end(self, child: Child) -> None:
        child.terminate()
        try:
            async with asyncio.timeout(self._grace):
                await _exited(child)
        except TimeoutError:
            child.kill()
            await _exited(child)

    async def _pump(self, name: str, output: int) -> None:
        async with aclosing(lines(output)) as said:
            async for line in said:
                self._say(name, line)

    def _say(self, name: str, line: str) -> None:
        self._tails[name].append(line)
        self._sink(name, line)

    def _last_words(self, name: str) -> str:
        return "\n".join(f"  {name}: {line}" for line in self._tails[name])


async def _answers(http: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await http.get(url)).is_success
    except httpx.TransportError:
        return False


async def _exited(child: Child) -> None:
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    loop.add_reader(child.sentinel, done.set)
    try:
        await done.wait()
    finally:
        loop.remove_reader(child.sentinel)


def _ending(code: int) -> str:
    return f"signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"exit code {code}"
