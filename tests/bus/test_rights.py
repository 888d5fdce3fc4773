"""The least rights on the real servers: what is allowed works, and what is not is refused."""

import asyncio
import json
import socket
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import timedelta

import nats
import pytest
import redis
from nats.errors import Error as NatsError
from nats.js.errors import APIError
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError
from structlog.testing import capture_logs

from tocsin_contracts import EVENTS, ApprovalGranted
from tocsin_contracts.freezes import FreezeAsked
from tocsin_contracts.live import ChatMoved
from tocsin_contracts.ties import TieAsked
from tocsin_contracts.toolcalls import AgentsAsked, DirectCall, ToolsAsked
from tocsin_contracts.views import ApprovalState
from tocsin_kit import approvals, keys, store
from tocsin_kit.bus import Bus
from tocsin_kit.bus_figures import bus_figures
from tocsin_kit.clock import SystemClock
from tocsin_kit.embedded import NatsServer, ValkeyServer
from tocsin_kit.ensure import ensure
from tocsin_kit.feed import Feed
from tocsin_kit.letters import Letters
from tocsin_kit.outbox import Outbox, left_to_others
from tocsin_kit.processes import LOOPBACK
from tocsin_kit.publishes import PUBLISHES, SERVICES, Identity
from tocsin_kit.rights import inbox
from tocsin_kit.runs import RunStore
from tocsin_kit.topology import CONSUMERS, FACTS, PARKED, STREAMS
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.harness import settings

pytestmark = pytest.mark.servers

PASSWORDS = {who: f"p-{who}-of-this-test" for who in Identity}
EACH = pytest.mark.parametrize("who", SERVICES)


@pytest.fixture(scope="module")
def bus(tmp_path_factory):
    with NatsServer(tmp_path_factory.mktemp("nats"), passwords=PASSWORDS) as server:
        asyncio.run(ensure(server.url, ack_wait=10))
        yield server


@pytest.fixture(scope="module")
def valkey(tmp_path_factory):
    with ValkeyServer(tmp_path_factory.mktemp("valkey"), passwords=PASSWORDS) as server:
        yield server


@asynccontextmanager
async def client_of(bus, who):
    """Connect as an identity; the list holds what it is refused, in order."""
    refused = []

    async def note(error):
        refused.append(str(error))

    client = await nats.connect(
        bus.url_of(who), inbox_prefix=inbox(who), error_cb=note, allow_reconnect=False
    )
    try:
        yield client, refused
    finally:
        with suppress(NatsError):
            await client.close()


async def _heard(client):
    """Wait until the server has answered everything; the first ping overtakes what is unsent."""
    await client.flush()
    await client.flush()


async def refused_of(bus, who, subjects):
    """Return those subjects that an identity is refused to publish to."""
    async with client_of(bus, who) as (client, refused):
        for subject in subjects:
            await client.publish(subject, b"not an answer to anything")
        await _heard(client)
    said = " ".join(refused)
    return {one for one in subjects if f'"{one.lower()}"' in said}


@EACH
async def test_a_service_publishes_exactly_its_facts(bus, who):
    subjects = {event: f"{event.pattern()[:-1]}r1" for event in EVENTS}
    wanted = {subjects[event] for event in EVENTS if event not in PUBLISHES[who]}
    assert await refused_of(bus, who, list(subjects.values())) == wanted


@EACH
async def test_a_service_can_neither_end_nor_empty_nor_make_anything(bus, who):
    subjects = [
        f"$JS.API.STREAM.{verb}.{one.name}"
        for one in STREAMS
        for verb in ("DELETE", "PURGE", "UPDATE", "CREATE", "MSG.DELETE", "MSG.GET", "RESTORE")
    ]
    subjects += [
        f"$JS.API.CONSUMER.{verb}.{one.stream}.{one.durable}"
        for one in CONSUMERS
        for verb in ("DELETE", "CREATE", "DURABLE.CREATE", "PAUSE")
    ]
    letters = {f"$JS.API.STREAM.MSG.{verb}.{PARKED}" for verb in ("GET", "DELETE")}
    allowed = letters if who is Identity.GATEWAY else set()
    assert await refused_of(bus, who, subjects) == set(subjects) - allowed


@EACH
async def test_a_service_takes_nothing_from_the_place_of_another(bus, who):
    mine = {one for one in CONSUMERS if one.durable.startswith(f"{who}-")}
    others = [f"{one.stream}.{one.durable}" for one in CONSUMERS if one not in mine]
    subjects = [f"$JS.API.CONSUMER.MSG.NEXT.{place}" for place in others]
    subjects += [f"$JS.ACK.{place}.1.1.1.1.1" for place in others]
    assert await refused_of(bus, who, subjects) == set(subjects)


@EACH
async def test_a_service_hears_no_answer_of_another(bus, who):
    async with client_of(bus, who) as (client, refused):
        for other in SERVICES:
            await client.subscribe(f"{inbox(other)}.>")
        await client.subscribe(">")
        await _heard(client)
        assert len(refused) == len(SERVICES), refused


async def test_a_timer_never_becomes_a_fact(bus):
    headers = {
        "Nats-Schedule": "@at 2026-01-01T00:00:00Z",
        "Nats-Schedule-Target": "tocsin.approval.granted.v1.r1",
    }
    async with client_of(bus, Identity.RCA) as (client, _):
        subject = "tocsin-timer.set.budget-expiry.r1"
        said = await client.request(subject, b"{}", timeout=2, headers=headers)
    assert "target is invalid" in json.loads(said.data)["error"]["description"]


async def test_a_fact_is_neither_deleted_nor_purged_by_anybody(bus, valkey):
    async with bus_of(bus, valkey, Identity.RCA) as (its, _):
        await its.publish(build.hypothesis_formed(run_id="kept"))
    async with client_of(bus, Identity.OWNER) as (client, _):
        js = client.jetstream()
        for refused in (js.purge_stream(FACTS), js.delete_msg(FACTS, 1)):
            with pytest.raises(APIError):
                await refused


@asynccontextmanager
async def bus_of(bus, valkey, who):
    """Run the bus of a service, as itself."""
    urls = {"nats_url": bus.url_of(who), "redis_url": valkey.url_of(who)}
    chosen = settings(who.value, **urls)
    client = store.connect(chosen.redis_url)
    its = Bus(chosen, RunStore(client))
    await its.start()
    try:
        yield its, client
    finally:
        await its.close()
        await client.aclose()


async def test_a_forged_yes_of_rca_is_refused_and_named_in_its_log(bus, valkey):
    forged = build.approval_granted()
    async with bus_of(bus, valkey, Identity.RCA) as (its, _):
        with capture_logs() as lines, suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await its.publish(forged)
    (line,) = [one for one in lines if one["event"] == "bus.denied"]
    assert (line["user"], line["subject"]) == ("rca", forged.subject)


@pytest.mark.parametrize(
    ("asks", "answers", "question"),
    [
        (Identity.GATEWAY, Identity.RCA, ToolsAsked),
        (Identity.GATEWAY, Identity.RCA, AgentsAsked),
        (Identity.GATEWAY, Identity.RCA, DirectCall),
        (Identity.INGEST, Identity.RCA, TieAsked),
        (Identity.ACTION, Identity.INGEST, FreezeAsked),
        (Identity.VALIDATION, Identity.INGEST, FreezeAsked),
    ],
)
async def test_a_question_is_answered_by_whom_it_is_for(bus, asks, answers, question):
    async def answer(msg):
        await msg.respond(b"an answer")

    async with client_of(bus, answers) as (one, refused), client_of(bus, asks) as (other, more):
        await one.subscribe(question.subject, question.subject, cb=answer)
        await _heard(one)
        said = await other.request(question.subject, b"{}", timeout=5)
    assert (said.data, refused, more) == (b"an answer", [], [])


async def test_only_who_needs_an_answer_may_ask(bus):
    subjects = [one.subject for one in (ToolsAsked, DirectCall, TieAsked, FreezeAsked)]
    assert await refused_of(bus, Identity.NOTIFIER, subjects) == set(subjects)
    assert await refused_of(bus, Identity.ACTION, subjects) == set(subjects[:3])


async def test_what_moves_in_a_chat_is_told_and_heard(bus):
    heard = asyncio.Event()

    async def on(_):
        heard.set()

    subject = f"tocsin-live.s1.{ChatMoved.kind}"
    async with client_of(bus, Identity.GATEWAY) as (gateway, refused):
        await gateway.subscribe(subject, cb=on)
        await _heard(gateway)
        for who in (Identity.RCA, Identity.NOTIFIER, Identity.GATEWAY):
            heard.clear()
            async with client_of(bus, who) as (client, more):
                await client.publish(subject, b"{}")
                await _heard(client)
                async with asyncio.timeout(5):
                    await heard.wait()
            assert (refused, more) == ([], [])


async def test_the_gateway_reads_facts_and_dead_letters_and_takes_these_out(bus, valkey):
    async with bus_of(bus, valkey, Identity.RCA) as (its, _):
        await its.publish(build.hypothesis_formed())
        await its._publisher.store(b"{}", f"tocsin-parked.rca.{RUN}", PARKED, headers={})
    async with client_of(bus, Identity.GATEWAY) as (client, refused):

        async def connect():
            return client

        feed, letters = Feed(connect), Letters(connect)
        newest = await feed.newest()
        async with aclosing(feed.past(newest - 1, newest)) as facts:
            assert [one.event.topic async for one in facts] == ["rca.hypothesis-formed.v1"]
        (number,) = await letters.numbers()
        await letters.remove(number)
        assert (await letters.numbers(), refused) == ([], [])
        figures = await bus_figures(connect)
    assert len(figures.consumers) == len(CONSUMERS)


async def test_what_a_rule_decides_action_stores_and_the_gateway_tells(bus, valkey):
    until = SystemClock().now() + timedelta(hours=1)
    async with (
        bus_of(bus, valkey, Identity.ACTION) as (_, client),
        bus_of(bus, valkey, Identity.GATEWAY) as (its, other),
    ):
        outbox = Outbox(client, approvals.OWNER, approvals.read, left_to_others)
        records = approvals.Approvals(client, outbox)
        await client.hset(keys.run(RUN), "state", "awaiting_approval")
        await records.open(RUN, "plan", ["ann"], until)
        taken = await records.decide_by_rule(RUN, "plan", "small")
        assert (taken.refusal, taken.state) == (None, ApprovalState.GRANTED)
        told = []

        async def publish(event):
            await its.publish(event)
            told.append(event)

        assert await Outbox(other, approvals.OWNER, approvals.read, publish).flush() == 1
        assert [type(one) for one in told] == [ApprovalGranted]


@EACH
def test_a_service_runs_no_command_that_rules_the_store(valkey, who):
    with redis.Redis.from_url(valkey.url_of(who)) as client:
        for command in ("FLUSHALL", "FLUSHDB", "KEYS *", "CONFIG GET *", "ACL LIST", "SCAN 0"):
            with pytest.raises(NoPermissionError):
                client.execute_command(*command.split())
        for command in ("SHUTDOWN", "SCRIPT FLUSH", "CLIENT KILL TYPE normal", "MONITOR"):
            with pytest.raises(NoPermissionError):
                client.execute_command(*command.split())


@pytest.mark.parametrize(
    ("who", "key"),
    [
        ("rca", keys.approval(RUN, "plan")),
        ("rca", keys.outbox("approvals")),
        ("rca", keys.lease(RUN, "action")),
        ("rca", keys.checkpoints(RUN, ":action:1")),
        ("ingest", keys.approval(RUN, "plan")),
        ("validation", keys.approval(RUN, "plan")),
        ("validation", keys.chat("s")),
        ("notifier", keys.live_settings()),
        ("action", keys.recording(RUN, 1)),
        ("gateway", keys.lease(RUN, "action")),
        ("gateway", "south:run:{r1}"),
    ],
)
def test_a_service_changes_no_key_of_another(valkey, who, key):
    with redis.Redis.from_url(valkey.url_of(Identity(who))) as client:
        with pytest.raises(NoPermissionError):
            client.delete(key)
        with pytest.raises(NoPermissionError):
            client.eval("return redis.call('DEL', KEYS[1])", 1, key)
        with pytest.raises(ResponseError, match="No permissions to access a key"):
            client.eval("return redis.call('DEL', ARGV[1])", 1, keys.run(RUN), key)


def test_who_has_no_name_may_only_ask_whether_the_store_is_up(valkey):
    host = valkey.url.rpartition("@")[2]
    with redis.Redis.from_url(f"redis://{host}") as client:
        assert client.ping()
        with pytest.raises(NoPermissionError):
            client.get(keys.runs())
    with (
        redis.Redis.from_url(f"redis://rca:wrong@{host}") as client,
        pytest.raises(AuthenticationError),
    ):
        client.ping()


@pytest.mark.parametrize("login", [{}, {"user": "rca", "pass": "another"}], ids=str)
def test_who_has_no_name_or_password_does_not_get_onto_the_bus(bus, login):
    with socket.create_connection((LOOPBACK, bus.ports[0]), 5) as connection:
        assert connection.recv(4096).startswith(b"INFO")
        connection.sendall(f"CONNECT {json.dumps(login)}\r\nPING\r\n".encode())
        assert b"Authorization Violation" in connection.recv(4096)
