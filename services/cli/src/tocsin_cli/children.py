"""Services as processes of their own, forked from one process that imported the heavy libraries.

Importing the messaging and graph libraries costs seconds; the fork server pays that once.
"""

import ctypes
import importlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable, Mapping
from io import TextIOWrapper
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Self

PRELOAD = (
    "faststream.nats",
    "langgraph.graph",
    "langgraph.checkpoint.base",
    "redis.asyncio",
    "uvicorn",
    "pydantic_settings",
    "structlog",
    "starlette.applications",
    "starlette.routing",
    "tocsin_contracts",
    "tocsin_cli.__main__",  # every child imports its supervisor's main module again
)

_OURS = "TOCSIN_"
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_FORKING = multiprocessing.get_context("forkserver")


def prepare(preload: Iterable[str] = PRELOAD) -> None:
    """Start the fork server and return at once; it goes on importing. Only from the main thread."""
    _FORKING.set_forkserver_preload(list(preload))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited: Ctrl-C is not for it
    # Every service shows what the fork server was started with: secrets come to each later.
    withheld = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith(_OURS)}
    try:
        forkserver.ensure_running()
    finally:
        os.environ.update(withheld)
        signal.signal(signal.SIGINT, before)


def warm_up() -> None:
    """Return when the fork server has imported everything, so that the next start is quick."""
    process = _FORKING.Process(target=_nothing)
    process.start()
    process.join()
    process.close()


class Child:
    """One running process of a service; `output` is the file descriptor its lines arrive on."""

    def __init__(self, process: ForkServerProcess, output: int) -> None:
        self._process = process
        self.output = output

    @classmethod
    def start(cls, name: str, module: str, environment: Mapping[str, str]) -> Self:
        """Fork a process that runs `main()` of a module. OSError or EOFError if that failed."""
        reader, writer = _FORKING.Pipe(duplex=False)
        with reader, writer:
            arguments = (name, module, dict(environment), writer)
            process = _FORKING.Process(target=run_service, args=arguments, name=name, daemon=True)
            process.start()
            return cls(process, os.dup(reader.fileno()))

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid or 0

    @property
    def sentinel(self) -> int:
        """A file descriptor that becomes readable when the process ends."""
        return self._process.sentinel

    @property
    def exit_code(self) -> int | None:
        """None while it runs, minus the signal's number if a signal ended it."""
        return self._process.exitcode

    def terminate(self) -> None:
        """Ask it to end; harmless if it has."""
        self._process.terminate()

    def kill(self) -> None:
        """End it at once; harmless if it has."""
        self._process.kill()


def run_service(name: str, module: str, environment: Mapping[str, str], output: Connection) -> None:
    """Be the service: this is the first code that runs in its process."""
    os.setsid()  # Ctrl-C is for the supervisor, who then stops us in order
    _end_with_parents(name)
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    output.close()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module]
    sys.exit(importlib.import_module(module).main())


def _end_with_parents(name: str) -> None:
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_NAME, f"tocsin-{name}".encode())
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_end_with_supervisor, daemon=True).start()


def _end_with_supervisor() -> None:
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGKILL)


def _nothing() -> None:
    pass
