"""Copies of remote repositories are shared by processes, and outlive those that are killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tocsin_gitops.config import load
from tocsin_gitops.fetching import Bounds, Origin, basic
from tocsin_gitops.hosts import credentials
from tocsin_gitops.mirror import Mirrors
from tocsin_gitops.providers import HostType
from tocsin_kit.clock import SystemClock
from tocsin_kit.errors import TransientError
from tocsin_testing.forges.bare import Bare, bare
from tocsin_testing.git_http import GitServer, serving
from tocsin_testing.harness import until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="it looks into /proc"),
]

SECONDS = 60
TOKEN = "tok-0123456789-abcdefghij"
READ_HEAD = """
import asyncio, os, sys
from pathlib import Path
from tocsin_gitops.config import load
from tocsin_gitops.repositories import repositories
from tocsin_kit.clock import SystemClock
gitops = load(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(asyncio.run(repositories(gitops, os.environ, SystemClock()).head(gitops.repositories[0])))
"""


@pytest.fixture
def remote(tmp_path):
    folder = tmp_path / "remote/shop/platform.git"
    folder.mkdir(parents=True)
    return bare(folder, {"a.yaml": b"a: 1\n"})


@pytest.fixture
def server(tmp_path, remote):
    found = GitServer(tmp_path / "remote", TOKEN)
    with serving(found) as url:
        provider = {"host": "acme", "type": "gitea", "git_base": url, "token_env": "ACME_TOKEN"}
        repository = {"name": "shop/platform", "host": "acme", "paths": ["**"]}
        file = {"providers": [provider], "repositories": [repository]}
        (tmp_path / "gitops.yaml").write_text(yaml.safe_dump(file))
        yield found


@pytest.fixture
def reader(tmp_path, server):
    """Starts processes that read the head; none outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", READ_HEAD, str(tmp_path / "gitops.yaml")],
            env={"PATH": os.environ["PATH"], "ACME_TOKEN": TOKEN},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=SECONDS)


def ask(*processes: subprocess.Popen[str]) -> None:
    """Let processes ask at the same moment, once all of them have started."""
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * len(processes)
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()


async def contents_asked(server: GitServer) -> None:
    async def look() -> int:
        return len([one for one in server.asked if one.startswith("POST")])

    await until(look, bool, SECONDS)


async def test_processes_that_ask_at_once_share_one_fetch(server, remote, reader):
    server.flows.clear()
    readers = [reader() for _ in range(3)]
    ask(*readers)
    await contents_asked(server)
    server.flows.set()
    said = [process.communicate(timeout=SECONDS) for process in readers]
    assert [out.strip() for out, _ in said] == [remote.head("main")] * 3, said
    assert server.fetches == 1


async def test_a_killed_process_leaves_a_fetch_that_nobody_disturbs_and_a_sound_copy(
    tmp_path, server, remote, reader
):
    """Its git goes on without it and keeps the lock; after that everything is as it should be."""
    server.flows.clear()
    victim = reader()
    ask(victim)
    await contents_asked(server)
    seen = arguments()
    assert any("fetch" in line and "shop/platform" in line for line in seen)
    secrets = {TOKEN, basic(HostType.GITEA, TOKEN)}
    assert [line for line in seen if any(secret in line for secret in secrets)] == []
    victim.kill()
    victim.communicate(timeout=SECONDS)

    gitops = load(tmp_path / "gitops.yaml")
    (provider,), (repository,) = gitops.providers, gitops.repositories
    tokens = credentials.tokens(provider, {"ACME_TOKEN": TOKEN}, SystemClock(), writing=False)
    origins = {"acme": Origin(provider, tokens)}
    with pytest.raises(TransientError, match="locked by another process"):
        await Mirrors(origins, SystemClock(), bounds=Bounds(seconds=0.3)).refresh(repository)
    server.flows.set()
    await Mirrors(origins, SystemClock()).refresh(repository)
    assert Bare(repository.git_dir).head("main") == remote.head("main")
    assert Bare(repository.git_dir).text("fsck", "--full", "--strict") == ""


def arguments() -> set[str]:
    """Return the command lines of all processes, which anybody on a machine may list."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.add(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found
