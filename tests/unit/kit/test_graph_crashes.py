"""Whichever write of a checkpoint a worker dies at, the next one arrives at the same answer."""

from itertools import pairwise
from typing import TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from tocsin_kit.graphs import Subgraph
from tocsin_testing.build import RUN

WRITES = range(1, 13)
"""More than a run with one question makes: the last ones never happen."""


class State(TypedDict, total=False):
    word: str
    asked: str
    answer: str


async def first(state):
    return {"word": f"{state['word']}!"}


async def ask(state):
    return {"asked": state.get("asked") or interrupt("which?")}


async def last(state):
    return {"answer": f"{state['word']} {state['asked']}"}


class Died(BaseException):
    """The worker is gone."""


class Dying(InMemorySaver):
    """Checkpoints whose writer dies at one of its writes, before or after it is stored."""

    def __init__(self, at, stored):
        super().__init__()
        self._at, self._stored = at, stored

    async def aput(self, *args):
        return await self._write(super().aput, *args)

    async def aput_writes(self, *args):
        return await self._write(super().aput_writes, *args)

    async def _write(self, write, *args):
        self._at -= 1
        if self._at == 0 and not self._stored:
            raise Died
        answer = await write(*args)
        if self._at == 0:
            raise Died
        return answer


def worker(saver, *steps):
    graph = StateGraph(State)
    for step in steps:
        graph.add_node(step.__name__, step)
    names = [START, *(step.__name__ for step in steps), END]
    for before, after in pairwise(names):
        graph.add_edge(before, after)
    return Subgraph("rca", graph, saver)


async def insist(call):
    """Do it again after a death, as a redelivery does."""
    try:
        return await call()
    except Died:
        return await call()


@pytest.mark.parametrize("stored", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", WRITES)
async def test_p5_without_a_question(at, stored):
    saver = Dying(at, stored)
    state = await insist(
        lambda: worker(saver, first, last).run(RUN, "1", {"word": "yes", "asked": "a"})
    )
    assert state["answer"] == "yes! a"


@pytest.mark.parametrize("stored", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", WRITES)
async def test_p5_with_a_question(at, stored):
    saver = Dying(at, stored)
    start = {"word": "yes"}
    await insist(lambda: worker(saver, first, ask, last).run(RUN, "1", start))
    state = await insist(
        lambda: worker(saver, first, ask, last).resume(RUN, "1", "b", {**start, "asked": "b"})
    )
    assert state["answer"] == "yes! b"
