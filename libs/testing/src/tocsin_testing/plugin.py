"""A real bus and a real store as pytest fixtures, shared by a session and empty for each test."""

from collections.abc import Iterator
from pathlib import Path

import nats
import pytest
import pytest_asyncio
import redis

from tocsin_kit.embedded import NatsServer, ValkeyServer


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """The session's nats-server; a test that stops it needs `own_nats_server` instead."""
    with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    """The session's valkey-server; a test that stops it needs `own_valkey_server` instead."""
    with ValkeyServer(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest_asyncio.fixture
async def nats_url(nats_server: NatsServer) -> str:
    """Where the session's nats-server listens; it holds no stream when the test starts."""
    client = await nats.connect(nats_server.url)
    try:
        jetstream = client.jetstream()
        for stream in await jetstream.streams_info():
            await jetstream.delete_stream(stream.config.name or "")
    finally:
        await client.close()
    return nats_server.url


@pytest.fixture
def redis_url(valkey_server: ValkeyServer) -> str:
    """Where the session's valkey-server listens; it holds no key when the test starts."""
    with redis.Redis.from_url(valkey_server.url) as client:
        client.flushall()
    return valkey_server.url


@pytest.fixture
def own_nats_server(tmp_path: Path) -> Iterator[NatsServer]:
    """A nats-server of the test's own, to stop, kill and start as it likes."""
    with NatsServer(tmp_path / "nats") as server:
        yield server


@pytest.fixture
def own_valkey_server(tmp_path: Path) -> Iterator[ValkeyServer]:
    """A valkey-server of the test's own, to stop, kill and start as it likes."""
    with ValkeyServer(tmp_path / "valkey") as server:
        yield server
