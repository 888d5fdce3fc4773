"""How bus and store are, for whoever wonders why things do not work; nothing is changed."""

from collections.abc import Iterator, Mapping
from time import time
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import Header
from nats.js.errors import APIError, NotFoundError

from tocsin_contracts.doctor import Condition, Finding
from tocsin_kit import store
from tocsin_kit.ensure import CONSUMER_FIELDS, STREAM_FIELDS, connected, differences
from tocsin_kit.errors import TransientError
from tocsin_kit.topology import CANARY, CONSUMERS, STREAMS, consumer_config

LOOK_SECONDS = 3.0
FULL = 0.8
"""Of the stream of facts: from there on no new run is opened."""

SKEW_SECONDS = 2.0
LONG_SKEW_SECONDS = 30.0
_APPLY = "`tocsin topology apply` makes what is missing, `--accept` changes what differs"


async def bus(nats_url: str, ack_wait: float) -> list[Finding]:
    """Return how the bus is: whether it answers, stores, and has the streams that we need."""
    try:
        async with connected(nats_url) as client:
            js = client.jetstream(timeout=LOOK_SECONDS)
            version = client.connected_server_version
            answers = _found("server", Condition.OK, f"NATS {version} answers")
            return [
                answers,
                await _stores(client),
                await _streams(js),
                await _durables(js, ack_wait),
            ]
    except TransientError as error:
        do = "start it, or set TOCSIN_NATS_URL"
        return [_found("server", Condition.PROBLEM, str(error), do)]


async def _stores(client: Client) -> Finding:
    """See whether a message is stored: it needs the right to publish, and to hear the answer."""
    headers = {Header.EXPECTED_STREAM.value: CANARY}
    try:
        js = client.jetstream(timeout=LOOK_SECONDS)
        await js.publish("tocsin-canary.doctor", b"{}", headers=headers)
    except (NatsError, APIError, TimeoutError) as error:
        do = f"let this user publish `tocsin.>`, `tocsin-*.>` and `$JS.API.>`; {_APPLY}"
        return _found("rights", Condition.PROBLEM, f"a message is not stored: {error!r}", do)
    return _found("rights", Condition.OK, "a message was stored")


async def _streams(js: JetStreamContext) -> Finding:
    faults, fullest = [], 0.0
    for wanted in STREAMS:
        name = str(wanted.name)
        try:
            found = await js.stream_info(name)
        except NotFoundError:
            faults.append(f"{name} is missing")
            continue
        except (NatsError, TimeoutError) as error:
            return _found("streams", Condition.UNKNOWN, f"{name}: {error!r}", "allow `$JS.API.>`")
        drift = differences(wanted, found.config, STREAM_FIELDS)
        faults += [f"{name}: {one}" for one in drift]
        if found.config.max_bytes and found.config.max_bytes > 0:
            fullest = max(fullest, found.state.bytes / found.config.max_bytes)
    if faults:
        return _found("streams", Condition.PROBLEM, "; ".join(faults), _APPLY)
    if fullest >= FULL:
        told = f"the fullest is at {fullest:.0%}"
        return _found("streams", Condition.WARNING, told, "see docs/operations.md on a full stream")
    told = f"all {len(STREAMS)} are as they should be, the fullest at {fullest:.0%}"
    return _found("streams", Condition.OK, told)


async def _durables(js: JetStreamContext, ack_wait: float) -> Finding:
    faults = []
    for one in CONSUMERS:
        wanted = consumer_config(one, ack_wait)
        try:
            found = await js.consumer_info(one.stream, one.durable)
        except NotFoundError:
            faults.append(f"{one.durable} is missing")
            continue
        except (NatsError, TimeoutError) as error:
            told = f"{one.durable}: {error!r}"
            return _found("consumers", Condition.UNKNOWN, told, "allow `$JS.API.>`")
        drift = differences(wanted, found.config, CONSUMER_FIELDS)
        faults += [f"{one.durable}: {line}" for line in drift]
    if faults:
        return _found("consumers", Condition.PROBLEM, "; ".join(faults), _APPLY)
    return _found("consumers", Condition.OK, f"all {len(CONSUMERS)} are as they should be")


async def run_store(redis_url: str) -> list[Finding]:
    """Return how the store is: whether it answers, keeps what it is given, and has our time."""
    client = store.connect(redis_url)
    try:
        async with store.translated("look at the run store"):
            told: Mapping[str, Any] = await client.info()
            seconds, micros = await client.time()
        return [*_kept(told), _clock(seconds + micros / 1e6 - time())]
    except TransientError as error:
        do = "start it, or set TOCSIN_REDIS_URL"
        return [_of_store("server", Condition.PROBLEM, str(error), do)]
    finally:
        await client.aclose()


def _kept(told: Mapping[str, Any]) -> Iterator[Finding]:
    name = "Valkey" if told.get("valkey_version") else "Redis"
    version = told.get("valkey_version") or told.get("redis_version", "")
    yield _of_store("server", Condition.OK, f"{name} {version} answers")
    yield _persistence(told)
    policy, most = str(told.get("maxmemory_policy", "")), int(told.get("maxmemory", 0))
    if not policy:
        yield _of_store("eviction", Condition.UNKNOWN, "the store does not say", "see its settings")
    elif policy == "noeviction":
        yield _of_store("eviction", Condition.OK, "nothing is thrown away to make room")
    else:
        condition = Condition.PROBLEM if most else Condition.WARNING
        told_ = f"maxmemory-policy is {policy}: runs and approvals may vanish"
        yield _of_store("eviction", condition, told_, "set `maxmemory-policy noeviction`")


def _persistence(told: Mapping[str, Any]) -> Finding:
    if "aof_enabled" not in told:
        return _of_store("persistence", Condition.UNKNOWN, "the store does not say", "allow INFO")
    if not int(told["aof_enabled"]):
        said = "appendonly is off: what was stored since the last snapshot is lost with the store"
        return _of_store("persistence", Condition.WARNING, said, "set `appendonly yes`")
    status = str(told.get("aof_last_write_status", "ok"))
    if status != "ok":
        said = f"the last write to disk is told as {status}"
        return _of_store("persistence", Condition.PROBLEM, said, "look at its disk")
    return _of_store("persistence", Condition.OK, "appendonly is on")


def _clock(skew: float) -> Finding:
    said = f"its clock and that of this machine are {abs(skew):.1f} s apart"
    do = "let both follow the same time server"
    if abs(skew) < SKEW_SECONDS:
        return _of_store("clock", Condition.OK, said)
    long = abs(skew) >= LONG_SKEW_SECONDS
    return _of_store("clock", Condition.PROBLEM if long else Condition.WARNING, said, do)


def _found(thing: str, condition: Condition, told: str, do: str = "") -> Finding:
    return Finding(part="bus", thing=thing, condition=condition, told=told, do=do)


def _of_store(thing: str, condition: Condition, told: str, do: str = "") -> Finding:
    return Finding(part="store", thing=thing, condition=condition, told=told, do=do)
