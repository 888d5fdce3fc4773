"""Graphs that survive their worker: finished steps are never paid for twice."""

from typing import TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from tocsin_kit import leases
from tocsin_kit.graphs import Subgraph
from tocsin_kit.runs import Lease, Renewal
from tocsin_testing.build import RUN


class State(TypedDict, total=False):
    word: str
    answer: str
    done: list[str]


class Steps:
    """Three steps that count their runs; the second can be made to crash, the third asks."""

    def __init__(self):
        self.ran = []
        self.crash = False

    async def first(self, state):
        self.ran.append("first")
        return {"done": ["first"]}

    async def second(self, state):
        self.ran.append("second")
        if self.crash:
            raise RuntimeError("killed")
        return {"done": [*state["done"], state["word"]]}

    async def ask(self, state):
        self.ran.append("ask")
        return {"answer": state.get("answer") or interrupt("which?")}


@pytest.fixture
def saver():
    return InMemorySaver()


def graph(steps, *names):
    built = StateGraph(State)
    for before, name in zip([START, *names], [*names, END], strict=True):
        if name is not END:
            built.add_node(name, getattr(steps, name))
        built.add_edge(before, name)
    return built


def subgraph(steps, saver, *names):
    return Subgraph("rca", graph(steps, *names), saver)


async def test_a_graph_runs_to_its_end(saver):
    steps = Steps()
    state = await subgraph(steps, saver, "first", "second").run(RUN, "1", {"word": "w"})
    assert state == {"word": "w", "done": ["first", "w"]}


async def test_p5_a_killed_worker_goes_on_after_its_last_finished_step(saver):
    steps = Steps()
    steps.crash = True
    with pytest.raises(RuntimeError):
        await subgraph(steps, saver, "first", "second").run(RUN, "1", {"word": "w"})
    steps.crash = False
    state = await subgraph(steps, saver, "first", "second").run(RUN, "1", {"word": "another"})
    assert steps.ran == ["first", "second", "second"]
    assert state["done"] == ["first", "w"]


async def test_p5_a_graph_that_has_ended_answers_without_running(saver):
    steps = Steps()
    first = await subgraph(steps, saver, "first", "second").run(RUN, "1", {"word": "w"})
    again = await subgraph(steps, saver, "first", "second").run(RUN, "1", {"word": "another"})
    assert again == first
    assert steps.ran == ["first", "second"]


async def test_another_attempt_or_run_starts_afresh(saver):
    steps = Steps()
    built = subgraph(steps, saver, "first")
    for run_id, attempt in ((RUN, "1"), (RUN, "2"), ("r2", "1")):
        await built.run(run_id, attempt, {})
    assert steps.ran == ["first"] * 3


async def test_a_graph_of_another_shape_restarts_from_its_input(saver):
    steps = Steps()
    await subgraph(steps, saver, "first").run(RUN, "1", {"word": "old"})
    state = await subgraph(steps, saver, "first", "second").run(RUN, "1", {"word": "new"})
    assert steps.ran == ["first", "first", "second"]
    assert state["done"] == ["first", "new"]


async def test_a_graph_that_asks_waits_and_goes_on_with_the_answer(saver):
    steps = Steps()
    built = subgraph(steps, saver, "first", "ask", "second")
    waiting = await built.run(RUN, "1", {"word": "w"})
    assert "answer" not in waiting
    assert "answer" not in await built.run(RUN, "1", {"word": "w"})
    state = await subgraph(steps, saver, "first", "ask", "second").resume(RUN, "1", "yes", {})
    assert state == {"word": "w", "answer": "yes", "done": ["first", "w"]}
    assert steps.ran == ["first", "ask", "ask", "second"]


async def test_p5_an_answer_given_twice_counts_once(saver):
    steps = Steps()
    built = subgraph(steps, saver, "first", "ask", "second")
    await built.run(RUN, "1", {"word": "w"})
    first = await built.resume(RUN, "1", "yes", {})
    assert await built.resume(RUN, "1", "no", {}) == first


@pytest.mark.parametrize("names", [("first", "ask"), ("ask", "first")])
async def test_an_answer_without_its_checkpoint_is_in_the_input(saver, names):
    if names[0] == "ask":
        await subgraph(Steps(), saver, "first", "ask").run(RUN, "1", {})
    state = await subgraph(Steps(), saver, *names).resume(RUN, "1", "yes", {"answer": "yes"})
    assert state["answer"] == "yes"


async def test_a_graph_that_never_ends_is_stopped(saver):
    built = StateGraph(State)
    built.add_node("first", Steps().first)
    built.add_edge(START, "first")
    built.add_edge("first", "first")
    with pytest.raises(RecursionError):
        await Subgraph("rca", built, saver, step_limit=3).run(RUN, "1", {})


async def test_p5_checkpoints_carry_the_lease_they_were_written_under():
    written = set()

    class Fenced(InMemorySaver):
        async def aput(self, config, *args):
            asked = config["configurable"]
            written.add((asked["thread_id"], asked.get("fence")))
            return await super().aput(config, *args)

    class Runs:
        async def renew(self, lease):
            return Renewal.KEPT

    async with leases.Held(Runs(), Lease(RUN, "rca", "e1", "token"), 60, stoppable=True):
        await subgraph(Steps(), Fenced(), "first").run(RUN, "1", {})
    assert written == {("r1:rca:1", "token")}
