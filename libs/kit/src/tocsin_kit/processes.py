"""Run a server as a child process that keeps its ports and data and never outlives its parent."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from tocsin_kit.errors import PermanentError

LOOPBACK = "127.0.0.1"
START_SECONDS = 10.0
STOP_SECONDS = 10.0

_POLL_SECONDS = 0.005
_PORT_TRIES = 3
_LOG_LINES = 20
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class ServerProcess(ABC):
    """A server on loopback. A restart keeps its ports and its data, so clients find it again.

    On Linux it gets SIGTERM when the thread that started it ends: start it from the main thread,
    or from another that lives as long as the server should.
    """

    name: ClassVar[str]
    port_count: ClassVar[int] = 1

    def __init__(self, data: Path) -> None:
        self.data = data
        self.log = data / f"{self.name}.log"
        self.ports = free_ports(self.port_count)
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    @abstractmethod
    def url(self) -> str:
        """Where clients connect."""

    @abstractmethod
    def command(self) -> list[str]:
        """Write what the server reads at start, and return its command line."""

    @abstractmethod
    def answers(self) -> bool:
        """Ask the server whether it is ready; OSError means not yet."""

    @property
    def pid(self) -> int | None:
        """The process id; None while the server is not running."""
        if self._process is None or self._process.poll() is not None:
            return None
        return self._process.pid

    def start(self) -> None:
        """Return once the server answers; PermanentError, with its last words, if it never does."""
        if self.pid is not None:
            return
        self.data.mkdir(parents=True, exist_ok=True)
        tries = _PORT_TRIES if self._process is None else 1
        while not self._launch():
            tries -= 1
            last_words = self._last_words()
            if not tries or "address already in use" not in last_words.lower():
                raise PermanentError(f"{self.name} cannot run in {str(self.data)!r}:\n{last_words}")
            self.ports = free_ports(self.port_count)

    def stop(self) -> None:
        """Ask the server to end and wait for it; one that does not listen is killed."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the server as a crash would: at once, with nothing flushed."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _launch(self) -> bool:
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={n: v for n, v in os.environ.items() if not n.startswith("TOCSIN_")},
                start_new_session=True,  # Ctrl-C is for us, who then stop our servers last
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - one call of libc, loaded already
            )
        try:
            return self._became_ready(self._process)
        except BaseException:
            self.kill()
            raise

    def _became_ready(self, process: subprocess.Popen[bytes]) -> bool:
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None:
            if self._is_ready():
                return True
            if time.monotonic() > deadline:
                raise PermanentError(
                    f"{self.name} (pid {process.pid}) did not answer within {START_SECONDS:g} s; "
                    f"see {str(self.log)!r}"
                )
            time.sleep(_POLL_SECONDS)
        return False

    def _is_ready(self) -> bool:
        try:
            return self.answers()
        except OSError:
            return False

    def _last_words(self) -> str:
        said = self.log.read_bytes()[self._log_start :].decode(errors="replace")
        return "\n".join(said.splitlines()[-_LOG_LINES:])


def free_ports(count: int) -> tuple[int, ...]:
    """Return distinct loopback ports that nobody listens on right now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return tuple(each.getsockname()[1] for each in sockets)


def _end_with_parent() -> None:
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
