"""What the graphs rely on: state survives its worker, a lost lease writes nothing, all expires."""

import operator
from typing import Annotated, TypedDict

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tocsin_contracts import Alert, AlertStatus, Severity
from tocsin_kit import keys
from tocsin_kit.checkpoints import RedisSaver, lease_of
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.store import connect

pytestmark = pytest.mark.servers

TTL = 600
THREAD = "run1:rca:1"
CONFIG = {"configurable": {"thread_id": THREAD}}
FENCED = {"configurable": {"thread_id": THREAD, "fence": "mine"}}


class State(TypedDict, total=False):
    alert: Alert
    log: Annotated[list[str], operator.add]


class Steps:
    """A graph of three steps that counts them; each may be told to do something else once."""

    def __init__(self, **instead):
        self.ran = []
        self.instead = instead

    def step(self, name):
        async def run(state):
            self.ran.append(name)
            done = await self.instead.pop(name)(state) if name in self.instead else name
            return {"log": [done]}

        return run

    def graph(self, saver):
        graph = StateGraph(State)
        for name in ("look", "ask", "act"):
            graph.add_node(name, self.step(name))
        graph.add_edge(START, "look")
        graph.add_edge("look", "ask")
        graph.add_edge("ask", "act")
        graph.add_edge("act", END)
        return graph.compile(checkpointer=saver)


@pytest.fixture
async def client(redis_url):
    async with connect(redis_url, text=False) as client:
        yield client


@pytest.fixture
def saver(client):
    return new_saver(client)


def new_saver(client, lease_key=lease_of):
    return RedisSaver(client, ttl_seconds=TTL, lease_key=lease_key)


async def test_the_saver_does_all_that_langgraph_asks_of_one(client):
    @checkpointer_test(name="RedisSaver")
    async def fresh():
        await client.flushall()
        yield new_saver(client)

    results = (await validate(fresh)).results
    assert {name: each.failures for name, each in results.items() if each.failures} == {}
    assert sum(each.detected and each.passed is True for each in results.values()) == 8
    assert sum(each.tests_passed for each in results.values()) >= 81


async def test_a_run_waits_for_an_answer_and_another_worker_goes_on_with_it(client, saver):
    async def ask(state):
        return f"answer {interrupt('approve?')}"

    first, second = Steps(ask=ask), Steps(ask=ask)
    asked = await first.graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")
    assert [each.value for each in asked["__interrupt__"]] == ["approve?"]

    graph = second.graph(new_saver(client))
    done = await graph.ainvoke(Command(resume="yes"), CONFIG, durability="sync")
    assert done["log"] == ["look", "answer yes", "act"]
    assert second.ran == ["ask", "act"]


async def test_a_crashed_run_goes_on_after_its_last_finished_step(client, saver):
    async def crash(state):
        raise RuntimeError("worker lost")

    first, second = Steps(act=crash), Steps()
    with pytest.raises(RuntimeError):
        await first.graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")

    done = await second.graph(new_saver(client)).ainvoke(None, CONFIG, durability="sync")
    assert done["log"] == ["look", "ask", "act"]
    assert second.ran == ["act"]


async def test_a_run_survives_a_crash_of_the_store(own_valkey_server):
    async def crash(state):
        own_valkey_server.kill()
        own_valkey_server.start()
        raise RuntimeError("store lost")

    second = Steps()
    async with connect(own_valkey_server.url, text=False) as client:
        saver = new_saver(client)
        with pytest.raises(RuntimeError):
            await Steps(act=crash).graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")
        done = await second.graph(saver).ainvoke(None, CONFIG, durability="sync")
    assert done["log"] == ["look", "ask", "act"]
    assert second.ran == ["act"]


async def test_a_store_that_does_not_answer_may_answer_later(own_valkey_server):
    once = Retry(NoBackoff(), retries=0)
    async with Redis.from_url(own_valkey_server.url, retry=once) as client:
        saver = new_saver(client)
        await Steps().graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")
        newest = await saver.aget_tuple(CONFIG)
        own_valkey_server.stop()
        for asked in (
            saver.aget_tuple(CONFIG),
            saver.aput_writes(newest.config, [("log", ["more"])], "task"),
            saver.adelete_thread(THREAD),
        ):
            with pytest.raises(TransientError, match="run1:rca:1"):
                await asked


async def test_the_owner_of_the_lease_may_write(client, saver):
    await client.set(keys.lease("run1", "rca"), "mine")
    done = await Steps().graph(saver).ainvoke({"log": []}, FENCED, durability="sync")
    assert done["log"] == ["look", "ask", "act"]


@pytest.mark.parametrize("lease", ["another", None])
async def test_a_worker_that_lost_its_lease_stops_at_its_next_write(client, saver, lease):
    name = keys.lease("run1", "rca")
    await client.set(name, "mine")

    async def lose(state):
        await (client.set(name, lease) if lease else client.delete(name))
        return "lost"

    steps = Steps(ask=lose)
    with pytest.raises(TransientError, match="lease lost on thread 'run1:rca:1'"):
        await steps.graph(saver).ainvoke({"log": []}, FENCED, durability="sync")
    assert steps.ran == ["look", "ask"]
    kept = await saver.aget_tuple(CONFIG)
    assert kept.checkpoint["channel_values"]["log"] == ["look"]
    assert kept.pending_writes == []


async def test_a_fence_without_a_lease_to_check_is_refused(client):
    saver = new_saver(client, lease_key=None)
    with pytest.raises(PermanentError, match="give the saver a lease_key"):
        await Steps().graph(saver).ainvoke({"log": []}, FENCED, durability="sync")
    assert await client.dbsize() == 0


async def test_the_lease_of_a_thread_is_the_one_of_its_run_and_service():
    assert lease_of(THREAD) == "tocsin:lease:{run1}:rca"


async def test_every_key_expires(client, saver):
    await Steps().graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")
    names = await client.keys()
    assert len(names) == 3
    for name in names:
        assert TTL - 5 <= await client.ttl(name) <= TTL


async def test_a_write_of_a_task_lets_the_whole_thread_live_on(client, saver):
    await Steps().graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")
    newest = await saver.aget_tuple(CONFIG)
    for name in await client.keys():
        await client.expire(name, 1)
    await saver.aput_writes(newest.config, [("log", ["more"])], "task")
    assert {await client.ttl(name) > 1 for name in await client.keys()} == {True}


async def test_all_keys_of_a_run_share_a_slot_with_its_lease(client, saver):
    await Steps().graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")
    await client.set(keys.lease("run1", "rca"), "mine")
    slots = {await client.execute_command("CLUSTER KEYSLOT", k) for k in await client.keys()}
    assert len(slots) == 1


async def test_a_put_a_write_and_a_read_cost_one_round_trip_each(client, saver):
    await Steps().graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")
    newest = await saver.aget_tuple(CONFIG)
    await client.config_resetstat()
    await saver.aput(newest.config, newest.checkpoint, newest.metadata, {"log": "2.x"})
    await saver.aput_writes(newest.config, [("log", ["more"])], "task")
    await saver.aget_tuple(CONFIG)
    calls = await client.info("commandstats")
    assert calls["cmdstat_evalsha"]["calls"] == 3
    assert not {"cmdstat_eval", "cmdstat_script|load"} & set(calls)


async def test_contracts_come_back_as_what_they_were(saver):
    alert = Alert(
        source="webhook",
        fingerprint="f1",
        status=AlertStatus.FIRING,
        title="pods restart",
        severity=Severity.CRITICAL,
        labels={"namespace": "payments"},
    )
    await Steps().graph(saver).ainvoke({"alert": alert, "log": []}, CONFIG, durability="sync")
    state = await Steps().graph(saver).aget_state(CONFIG)
    assert state.values["alert"] == alert
    assert type(state.values["alert"].severity) is Severity


async def test_removing_old_checkpoints_keeps_the_values_that_the_newest_needs(client, saver):
    await Steps().graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")
    before = await saver.aget_tuple(CONFIG)
    blobs = await client.hlen("tocsin:ck:{run1}:rca:1:blobs")
    await saver.aprune([THREAD])
    assert await saver.aget_tuple(CONFIG) == before
    assert [each.config async for each in saver.alist(CONFIG)] == [before.config]
    assert await client.hlen("tocsin:ck:{run1}:rca:1:blobs") < blobs


async def test_an_unknown_way_to_prune_removes_nothing(saver):
    await Steps().graph(saver).ainvoke({"log": []}, CONFIG, durability="sync")
    with pytest.raises(PermanentError, match="cannot prune by 'keep_first'"):
        await saver.aprune([THREAD], strategy="keep_first")
    assert await saver.aget_tuple(CONFIG) is not None


async def test_a_removed_thread_leaves_nothing_and_its_neighbour_alone(client, saver):
    other = {"configurable": {"thread_id": "run1:rca:2"}}
    for config in (CONFIG, other):
        await Steps().graph(saver).ainvoke({"log": []}, config, durability="sync")
    await saver.adelete_thread(THREAD)
    assert await saver.aget_tuple(CONFIG) is None
    assert await saver.aget_tuple(other) is not None
    assert len(await client.keys()) == 3


async def test_without_a_config_the_checkpoints_of_every_thread_are_listed(saver):
    threads = {"run1:rca:1", "run1:validation:1", "run2:rca:1", "alone"}
    for thread in threads:
        config = {"configurable": {"thread_id": thread}}
        await Steps().graph(saver).ainvoke({"log": []}, config, durability="sync")
    listed = [each.config["configurable"]["thread_id"] async for each in saver.alist(None)]
    assert set(listed) == threads
