"""Streams and consumers: made once, and never silently other than what this version needs."""

import nats
import pytest
from nats.js.api import ConsumerConfig

from tocsin_kit.ensure import ensure
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.topology import CONSUMERS, FACTS, STREAMS

pytestmark = pytest.mark.servers


@pytest.fixture
async def js(nats_url):
    client = await nats.connect(nats_url)
    yield client.jetstream()
    await client.close()


async def test_everything_is_made_once(nats_url):
    first = await ensure(nats_url, ack_wait=10)
    assert first == (
        *(f"created stream {stream.name}" for stream in STREAMS),
        *(f"created consumer {consumer.durable}" for consumer in CONSUMERS),
    )
    assert await ensure(nats_url, ack_wait=10) == ()


async def test_a_stream_that_differs_is_refused_by_the_name_of_the_field(nats_url, js):
    await ensure(nats_url, ack_wait=10)
    config = (await js.stream_info(FACTS)).config
    config.max_bytes = 1024**2
    await js.update_stream(config)
    with pytest.raises(PermanentError) as refused:
        await ensure(nats_url, ack_wait=10)
    assert f"stream {FACTS}: max_bytes is 1048576, should be 2147483648" in str(refused.value)
    assert "tocsin topology apply --accept" in str(refused.value)


async def test_every_difference_is_named_at_once(nats_url, js):
    await ensure(nats_url, ack_wait=10)
    for name in ("rca-opened", "action-granted"):
        await js.add_consumer(FACTS, config=await other(js, name, ack_wait=77))
    with pytest.raises(PermanentError) as refused:
        await ensure(nats_url, ack_wait=10)
    for name in ("rca-opened", "action-granted"):
        assert f"consumer {name}: ack_wait is 77.0, should be 10" in str(refused.value)


async def test_accepting_changes_what_differs_and_nothing_else(nats_url, js):
    await ensure(nats_url, ack_wait=10)
    await js.add_consumer(FACTS, config=await other(js, "rca-opened", ack_wait=77))
    done = await ensure(nats_url, ack_wait=10, accept=True)
    assert done == ("changed consumer rca-opened: ack_wait is 77.0, should be 10",)
    assert await ensure(nats_url, ack_wait=10) == ()


async def test_what_we_do_not_set_is_the_operators_own_business(nats_url, js):
    await ensure(nats_url, ack_wait=10)
    config = (await js.stream_info(FACTS)).config
    config.description = "ours"
    await js.update_stream(config)
    assert await ensure(nats_url, ack_wait=10) == ()


async def test_a_bus_that_is_away_may_come_back():
    with pytest.raises(TransientError, match=r"'nats://127\.0\.0\.1:1' does not answer"):
        await ensure("nats://127.0.0.1:1", ack_wait=10)


async def other(js, durable, **changes) -> ConsumerConfig:
    return (await js.consumer_info(FACTS, durable)).config.evolve(**changes)


async def test_streams_are_kept_on_as_many_servers_as_asked_for_or_not_made(nats_url, js):
    with pytest.raises(PermanentError, match="replicas > 1 not supported in non-clustered mode"):
        await ensure(nats_url, ack_wait=10, replicas=3)
    assert (await js.account_info()).streams == 0
