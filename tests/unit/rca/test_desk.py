"""Tools that people use themselves: by schema, in their mode, recorded and masked."""

import pytest

from tocsin_agents.remote.agent import RemoteAgent
from tocsin_agents.remote.config import ExternalAgent
from tocsin_agents.tools.port import Capability, Status, ToolResult
from tocsin_agents.tools.toolsets import OwnTools
from tocsin_cluster.fleet import Fleet
from tocsin_contracts.chat import ChatMode
from tocsin_contracts.toolcalls import (
    AgentHome,
    AgentsAsked,
    CallStatus,
    DirectCall,
    ToolsAsked,
)
from tocsin_kit.redaction import Redactor
from tocsin_rca.desk import MOST_BYTES, Desk, Hosted
from tocsin_testing.fakes import FakeClock, outage
from tocsin_testing.tools import RecordingTool

SECRET = "hunter2-hunter2"
NUMBER = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


class Calls:
    """Keeps entries while it can."""

    def __init__(self):
        self.kept = []
        self.down = None

    async def record(self, call):
        if self.down:
            raise self.down
        self.kept.append(call)

    @property
    def ends(self):
        return [call.status for call in self.kept]


class World:
    """A desk over three tools: one that reads, one that proposes and one that writes."""

    def __init__(self, *more, hosted=()):
        self.look = RecordingTool("shop.look", parameters=NUMBER)
        self.propose = RecordingTool("shop.propose", Capability.PROPOSE)
        self.write = RecordingTool("shop.write", Capability.WRITE)
        self.calls = Calls()
        self.clock = FakeClock()
        toolsets = (OwnTools("shop", (self.look, self.propose, self.write)), *more)
        self.desk = Desk(
            lambda: Fleet((), self.clock.now),
            lambda fleet: toolsets,
            Redactor([SECRET]),
            self.calls,
            self.clock,
            hosted=hosted,
        )

    async def call(self, tool, mode=ChatMode.ASK, **arguments):
        return await self.desk.call(DirectCall(by="ana", mode=mode, tool=tool, arguments=arguments))


@pytest.mark.parametrize(
    ("mode", "names"),
    [(ChatMode.ASK, ["shop.look"]), (ChatMode.AGENT, ["shop.look", "shop.propose"])],
)
async def test_what_is_listed_is_what_the_mode_allows(mode, names):
    listed = await World().desk.tools(ToolsAsked(by="ana", mode=mode))
    assert [tool.name for tool in listed.tools] == names
    assert listed.tools[0].parameters == NUMBER
    assert {tool.server for tool in listed.tools} == {"shop"}


async def test_a_call_gives_data_and_is_recorded_with_its_end():
    world = World()
    answer = await world.call("shop.look", n=1)
    assert (answer.status, answer.data) == (CallStatus.OK, "done")
    assert world.look.calls == [{"n": 1}]
    (entry,) = world.calls.kept
    told = (entry.by, entry.tool, entry.arguments, entry.status, entry.mode)
    assert told == ("ana", "shop.look", {"n": 1}, CallStatus.OK, ChatMode.ASK)


async def test_arguments_that_do_not_fit_the_schema_reach_no_tool():
    world = World()
    answer = await world.call("shop.look", n="many", path="/etc")
    assert answer.status is CallStatus.ERROR
    assert "n" in answer.error
    assert world.look.calls == []
    assert world.calls.ends == [CallStatus.ERROR]


@pytest.mark.parametrize("tool", ["shop.propose", "shop.write", "shop.nothing", "nothing"])
async def test_in_ask_mode_nothing_but_reads_is_used(tool):
    world = World()
    assert (await world.call(tool)).status is CallStatus.REFUSED
    assert (world.propose.calls, world.write.calls) == ([], [])
    assert world.calls.ends == [CallStatus.REFUSED]


async def test_in_agent_mode_a_tool_may_propose_and_never_write():
    world = World()
    assert (await world.call("shop.propose", ChatMode.AGENT)).status is CallStatus.OK
    assert (await world.call("shop.write", ChatMode.AGENT)).status is CallStatus.REFUSED
    assert (len(world.propose.calls), world.write.calls) == (1, [])
    assert world.calls.ends[:2] == [CallStatus.STARTED, CallStatus.OK]


async def test_what_cannot_be_recorded_proposes_nothing_and_a_read_goes_on():
    world = World()
    world.calls.down = outage()
    assert (await world.call("shop.propose", ChatMode.AGENT)).status is CallStatus.REFUSED
    assert world.propose.calls == []
    assert (await world.call("shop.look", n=1)).status is CallStatus.OK


async def test_p6_no_secret_is_recorded_or_answered():
    world = World()
    world.look.answer = ToolResult(status=Status.OK, data={"password": SECRET, "seen": SECRET})
    world.look.parameters = {"type": "object"}
    answer = await world.call("shop.look", text=f"find {SECRET}")
    assert SECRET not in answer.model_dump_json()
    assert SECRET not in world.calls.kept[0].model_dump_json()


async def test_an_answer_that_no_message_can_carry_is_an_error_and_not_silence():
    world = World()
    world.look.answer = ToolResult(status=Status.OK, data="x" * MOST_BYTES)
    answer = await world.call("shop.look", n=1)
    assert (answer.status, answer.data) == (CallStatus.ERROR, None)


async def test_agents_show_their_cards_and_why_one_is_away():
    async def nowhere(host, port):
        raise OSError("no such host")

    private = ExternalAgent(url="https://agents.example/k8s", capability=Capability.READ)
    hosted = (
        Hosted("investigator", "finds causes", "scripted/model"),
        Hosted("chooser", "breaks ties", "scripted/model", uses_tools=False),
    )
    world = World(RemoteAgent("helper", private, find=nowhere), hosted=hosted)
    agents = (await world.desk.agents(AgentsAsked(by="ana"))).agents
    assert [(one.name, one.tools) for one in agents] == [
        ("investigator", ("shop.look",)),
        ("chooser", ()),
        ("helper", ()),
    ]
    assert agents[2].home is AgentHome.EXTERNAL
    assert "no such host" in agents[2].away
