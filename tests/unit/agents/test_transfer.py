"""Handing over within a team, and several specialists at once."""

import asyncio

import pytest
from pydantic import BaseModel

from tocsin_agents.agent import Agent
from tocsin_agents.limits.budgets import Limit, Limits
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.events import Transferred
from tocsin_agents.loop.outcome import Ending
from tocsin_agents.loop.parallel import Parallel
from tocsin_agents.loop.running import Loop
from tocsin_agents.messages import Role
from tocsin_agents.models.port import ModelAwayError
from tocsin_agents.transfer import Team
from tocsin_kit.errors import PermanentError
from tocsin_testing.agents import Ear, FakeTool, invocation, work
from tocsin_testing.scripted_model import ScriptedModel, Stalled, asks, says


def agent(name, *script, **changes):
    fields = {"description": f"Knows {name}.", "model": ScriptedModel(*script)}
    return Agent(name=name, **(fields | changes))


def to(name):
    return asks(("transfer_to_agent", {"agent": name}))


async def ran(root, ear=None, **limits):
    loop = Loop(root, Engine(limits=Limits(**limits)))
    return await loop.run(work(), invocation(hear=(ear or Ear()).hear))


def names(agents):
    return [each.name for each in agents]


def test_an_agent_reaches_its_children_its_parent_and_its_peers():
    nodes, pods = agent("nodes"), agent("pods", sub_agents=[agent("logs")])
    team = Team(agent("lead", sub_agents=[pods, nodes]))
    assert names(team.reachable("lead")) == ["pods", "nodes"]
    assert names(team.reachable("pods")) == ["logs", "lead", "nodes"]
    assert names(team.reachable("logs")) == ["pods"]


def test_an_agent_may_be_kept_from_its_parent_and_its_peers():
    alone = agent("pods", disallow_transfer_to_parent=True, disallow_transfer_to_peers=True)
    upward = agent("nodes", disallow_transfer_to_peers=True)
    team = Team(agent("lead", sub_agents=[alone, upward]))
    assert names(team.reachable("pods")) == []
    assert team.offer("pods", {}) is None
    assert names(team.reachable("nodes")) == ["lead"]


def test_names_are_addresses():
    with pytest.raises(PermanentError, match="two agents below 'lead' are called 'pods'"):
        Team(agent("lead", sub_agents=[agent("pods"), agent("pods")]))
    with pytest.raises(PermanentError, match="is no name for an agent"):
        agent("the boss")


async def test_a_handover_too_many_is_refused_though_the_model_asks_for_what_it_is_not_offered():
    pods = agent("pods", to("lead"), "Memory.", tools=[FakeTool("k8s.pods")])
    found = await ran(agent("lead", to("pods"), sub_agents=[pods]), transfers=1)
    assert (found.outcome.agent, found.outcome.text) == ("pods", "Memory.")
    refused = [message.text for message in found.messages if message.role is Role.TOOL][1]
    assert "handed over often enough" in refused


async def test_who_is_handed_over_to_speaks_and_ends_the_run():
    ear = Ear()
    pods = agent("pods", "It is memory.", output_key="cause")
    lead = agent("lead", to("pods"), sub_agents=[pods], output_key="lead_cause")
    found = await ran(lead, ear)
    assert (found.outcome.agent, found.outcome.text) == ("pods", "It is memory.")
    assert found.changes == {"run:cause": "It is memory."}
    assert [(event.agent, event.to) for event in ear.of(Transferred)] == [("lead", "pods")]
    assert [message.author for message in found.messages] == ["", "lead", "", "pods"]


async def test_an_agent_without_history_sees_the_request_and_what_it_said_itself():
    pods = agent(
        "pods",
        asks(("k8s.pods", {})),
        "Memory.",
        include_history=False,
        tools=[FakeTool("k8s.pods")],
    )
    await ran(agent("lead", to("pods"), sub_agents=[pods]))
    for question, shown in zip(pods.model.questions, [1, 3], strict=True):
        said = [message for message in question.messages if message.role is not Role.SYSTEM]
        assert len(said) == shown
        assert said[0].text == "Why does it restart?"


async def test_nobody_is_handed_over_to_who_is_not_reachable():
    pods = agent("pods", to("lead"), "Memory.", disallow_transfer_to_parent=True)
    found = await ran(agent("lead", to("pods"), sub_agents=[pods, agent("logs")]))
    assert found.outcome.agent == "pods"
    refused = found.messages[-2].text
    assert refused == "refused: cannot hand over to 'lead'; there are: logs"


async def test_a_run_is_handed_over_so_often_only():
    pods = agent("pods", to("lead"), "Memory.")
    lead = agent("lead", to("pods"), to("pods"), sub_agents=[pods])
    found = await ran(lead, transfers=3)
    offered = [tool.name for tool in pods.model.questions[-1].tools]
    assert offered == []
    assert (found.outcome.agent, found.outcome.text) == ("pods", "Memory.")


async def test_only_the_first_handover_of_an_answer_counts():
    both = asks(("transfer_to_agent", {"agent": "pods"}), ("transfer_to_agent", {"agent": "logs"}))
    lead = agent("lead", both, sub_agents=[agent("pods", "Memory."), agent("logs")])
    found = await ran(lead)
    answers = [message.text for message in found.messages if message.role is Role.TOOL]
    assert answers[0] == "ok: pods goes on from here"
    assert answers[1].startswith("refused: it can be handed over once only")


class Cause(BaseModel):
    cause: str


async def test_specialists_are_heard_in_their_order_whoever_is_first():
    late = Stalled(says("The node is fine."))
    nodes = agent("nodes", late, output_key="nodes")
    pods = agent("pods", asks(("submit", {"cause": "memory"})), output_schema=Cause)
    running = asyncio.create_task(Parallel([nodes, pods], Engine()).run(work(), invocation()))
    async with asyncio.timeout(5):
        await nodes.model.stalled.wait()
        late.gate.set()
        merged = await running
    assert [one.agent for one in merged.heard] == ["nodes", "pods"]
    assert merged.heard[1].outcome.data == {"cause": "memory"}
    assert merged.text == '## nodes\nThe node is fine.\n\n## pods\n{"cause":"memory"}'
    assert (merged.changes, merged.spent.model_calls) == ({"run:nodes": "The node is fine."}, 2)


async def test_a_specialist_that_fails_is_missing_and_hides_nobody():
    specialists = [agent("nodes", ModelAwayError("busy")), agent("pods", "Memory.")]
    merged = await Parallel(specialists, Engine()).run(work(), invocation())
    assert (merged.heard[0].outcome, merged.heard[0].missing) == (None, "busy")
    assert merged.text == "## nodes\n(missing: busy)\n\n## pods\nMemory."


async def test_so_many_specialists_work_at_once():
    lines = [Stalled(says("Fine.")) for _ in range(3)]
    specialists = [agent(f"s{n}", line) for n, line in enumerate(lines)]
    fan = Parallel(specialists, Engine(), at_once=2)
    running = asyncio.create_task(fan.run(work(), invocation()))
    async with asyncio.timeout(5):
        await specialists[0].model.stalled.wait()
        await specialists[1].model.stalled.wait()
        assert specialists[2].model.questions == []
        for line in lines:
            line.gate.set()
        assert len((await running).heard) == 3


async def test_specialists_share_the_limits_of_one_run_and_none_of_them_asks_for_more():
    looks = [asks(("k8s.pods", {"n": n})) for n in range(3)]
    pods = agent("pods", *looks, "Memory.", tools=[FakeTool("k8s.pods")])
    limits = Limits(run=Limit(model_calls=4))
    merged = await Parallel([pods, agent("nodes", "Fine.")], Engine(limits=limits)).run(
        work(), invocation()
    )
    assert merged.heard[0].outcome.ending is Ending.LIMITED
    assert len(pods.model.questions) == 2


def test_specialists_have_names_of_their_own():
    with pytest.raises(PermanentError, match="names of their own"):
        Parallel([agent("pods"), agent("pods")], Engine())


async def test_no_specialist_pauses_to_ask_for_more():
    looks = [asks(("k8s.pods", {"n": n})) for n in range(3)]
    pods = agent("pods", *looks, "Memory.", tools=[FakeTool("k8s.pods")])
    limits = Limits(run=Limit(model_calls=10), soft=0.2)
    merged = await Parallel([pods, agent("nodes", "Fine.")], Engine(limits=limits)).run(
        work(), invocation()
    )
    assert [one.outcome.text for one in merged.heard] == ["Memory.", "Fine."]
