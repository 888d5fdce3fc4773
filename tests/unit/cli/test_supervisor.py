"""Services are kept running, are stopped without leftovers, and die with their supervisor."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tocsin_cli import children
from tocsin_cli.supervisor import Service, Supervisor
from tocsin_kit.backoff import Backoff
from tocsin_kit.errors import PermanentError
from tocsin_kit.processes import free_ports

WEB = """
import os, signal, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Ready(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass

def main():
    own_session = os.getsid(0) == os.getpid()
    print("hello from", os.environ["GREETING"], *sys.argv, "HOME" in os.environ, own_session)
    signal.signal(signal.SIGTERM, BYE)
    HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Ready).serve_forever()
"""
POLITE = "BYE = lambda *_: (print('goodbye'), sys.exit(0))"
DEAF = "BYE = signal.SIG_IGN"
BROKEN = "def main():\n    raise SystemExit('no such setting: TOCSIN_X')"
HOPELESS = "def main():\n    print('no such setting: TOCSIN_Y')\n    raise SystemExit(78)"


@pytest.fixture
def fakes(tmp_path, monkeypatch):
    """Modules that behave like services, importable by the children."""
    for name, text in {
        "fake_polite": f"{WEB}\n{POLITE}",
        "fake_deaf": f"{WEB}\n{DEAF}",
        "fake_broken": BROKEN,
        "fake_hopeless": HOPELESS,
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    children.prepare(("http.server", "pytest"))
    return tmp_path


def service(module: str, port: int, name: str = "web") -> Service:
    environment = {"PORT": str(port), "GREETING": "afar", "PATH": os.environ["PATH"]}
    return Service(name, module, environment, f"http://127.0.0.1:{port}/ready")


class Output:
    """Collects lines, and lets a test wait for one."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self._news = asyncio.Event()

    def __call__(self, name: str, line: str) -> None:
        self.lines.append((name, line))
        self._news.set()

    async def said(self, text: str) -> str:
        async with asyncio.timeout(10):
            while True:
                for _, line in self.lines:
                    if text in line:
                        return line
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def supervised(module: str, output: Output, grace: float = 5.0):
    (port,) = free_ports(1)
    web = service(module, port)
    async with Supervisor([web], output, grace=grace, backoff=impatient) as supervisor:
        yield supervisor


def impatient() -> Backoff:
    return Backoff(first=0.02)


def ended(process: int) -> bool:
    """Wait, with a bound, for the end of a process that is known by its file descriptor."""
    over, _, _ = select.select([process], [], [], 5)
    os.close(process)
    return bool(over)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_service_gets_its_environment_and_only_that_and_its_output_arrives(fakes):
    output = Output()
    async with supervised("fake_polite", output) as supervisor:
        await supervisor.ready(10)
        line = await output.said("hello")
    assert line == "hello from afar fake_polite False True"


async def test_a_polite_service_ends_on_sigterm_and_says_its_last_words(fakes):
    output = Output()
    async with supervised("fake_polite", output) as supervisor:
        await supervisor.ready(10)
        pid = supervisor.pids["web"]
    assert ("web", "goodbye") in output.lines
    assert not alive(pid)


async def test_a_deaf_service_is_killed_after_its_grace(fakes):
    async with supervised("fake_deaf", Output(), grace=0.2) as supervisor:
        await supervisor.ready(10)
        pid = supervisor.pids["web"]
    assert not alive(pid)


async def test_a_killed_service_is_started_again(fakes):
    output = Output()
    async with supervised("fake_polite", output) as supervisor:
        await supervisor.ready(10)
        first = supervisor.pids["web"]
        output.lines.clear()
        os.kill(first, signal.SIGKILL)
        await output.said("ended by signal 9 (Killed); starting again in 0.02 s")
        await output.said("hello")
        assert supervisor.pids["web"] != first


async def test_a_service_that_never_starts_is_named_with_its_last_words(fakes):
    with pytest.raises(PermanentError, match=r"web died 5 times .*\n(.*\n)*.*TOCSIN_X"):
        async with supervised("fake_broken", Output()) as supervisor:
            await supervisor.ready(10)


async def test_a_service_whose_settings_are_wrong_is_started_once(fakes):
    output = Output()
    with pytest.raises(PermanentError, match=r"^web does not start\n  web: no such .*TOCSIN_Y$"):
        async with supervised("fake_hopeless", output) as supervisor:
            await supervisor.ready(10)
    assert output.lines == [("web", "no such setting: TOCSIN_Y")]


async def test_a_service_that_never_answers_is_named(fakes):
    (port,) = free_ports(1)
    late = Service(
        "web", "fake_polite", service("fake_polite", port).environment, "http://127.0.0.1:9/"
    )
    with pytest.raises(PermanentError, match=r"not ready after 0\.5 s: web"):
        async with Supervisor([late], Output()) as supervisor:
            await supervisor.ready(0.5)


SUPERVISE = """
import asyncio, sys, time
from tocsin_cli import children
from tocsin_cli.supervisor import Service, Supervisor

async def run():
    services = [
        Service(f"web{port}", "fake_deaf", {"PORT": port, "GREETING": "x"}, f"http://127.0.0.1:{port}/")
        for port in sys.argv[1:]
    ]
    async with Supervisor(services, lambda name, line: None) as supervisor:
        await supervisor.ready(20)
        print(*supervisor.pids.values(), flush=True)
        await asyncio.sleep(60)

if __name__ == "__main__":
    sys.path.insert(0, FOLDER)
    children.prepare(["http.server"])
    asyncio.run(run())
"""


@pytest.mark.e2e
def test_nothing_is_left_when_the_supervisor_is_killed(fakes):
    script = fakes / "supervise.py"
    script.write_text(SUPERVISE.replace("FOLDER", repr(str(fakes))))
    ports = [str(port) for port in free_ports(2)]
    with subprocess.Popen([sys.executable, script, *ports], stdout=subprocess.PIPE) as supervisor:
        pids = [int(pid) for pid in supervisor.stdout.readline().split()]
        family = [os.pidfd_open(pid) for pid in (*pids, *children_of(supervisor.pid))]
        supervisor.kill()
        # Every descendant holds the pipe open, so its end is the end of the last of them.
        assert supervisor.stdout.read() == b""
    assert len(pids) == 2
    assert all(ended(process) for process in family)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
