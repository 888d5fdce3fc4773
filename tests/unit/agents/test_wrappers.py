"""Each wrapper adds one promise to a toolset, in whatever order they are stacked."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin_agents.tools.arguments import call_hash
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import Mode
from tocsin_agents.tools.port import Capability, Identity, Status, ToolContext, ToolResult
from tocsin_agents.tools.wrappers import (
    audited,
    budgeted,
    filtered,
    needs_approval,
    only_reads,
    prefixed,
    redacted,
    timed,
)
from tocsin_agents.tools.wrappers.approval import CallDecision
from tocsin_agents.tools.wrappers.limiting import CallCount
from tocsin_contracts import RunId
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.redaction import MASK, Redactor
from tocsin_testing.tools import FixedToolset, RecordingTool

ADA = Identity("ada")
CONTEXT = ToolContext(ADA, run_id=RunId("run-1"))
READ, PROPOSE, NOTIFY, WRITE = Capability
NOT_READS = [PROPOSE, NOTIFY, WRITE]
SECRET = "tulip-7731"


async def one(toolset):
    (tool,) = await toolset.tools(ADA)
    return tool


async def names(toolset):
    return [tool.spec.name for tool in await toolset.tools(ADA)]


class Approver:
    """Says the same to every call."""

    def __init__(self, approved=True, why="", error=None, change=None):
        self.approved, self.why, self.error, self.change = approved, why, error, change
        self.asked = []

    async def decide(self, call):
        self.asked.append(call)
        if self.error:
            raise self.error
        if self.change:
            self.change(call)
        return CallDecision(hash=call.hash, approved=self.approved, by="grace", why=self.why)


class Audit:
    """Keeps entries while it can."""

    def __init__(self, error=None):
        self.entries, self.error = [], error

    async def record(self, entry):
        if self.error:
            raise self.error
        self.entries.append(entry)


class Watch:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        self.seconds += 0.25
        return self.seconds


@pytest.mark.parametrize("capability", NOT_READS)
async def test_only_reads_are_left(capability):
    both = FixedToolset(RecordingTool("k8s.get"), RecordingTool("k8s.other", capability))
    assert await names(only_reads(both)) == ["k8s.get"]


async def test_a_tool_that_stops_to_be_a_read_after_it_was_listed_is_refused():
    turncoat = RecordingTool("k8s.get")
    tool = await one(only_reads(FixedToolset(turncoat)))
    turncoat.capability = WRITE
    assert (await tool.call({}, CONTEXT)).status is Status.REFUSED
    assert turncoat.calls == []


async def test_what_is_denied_is_left_out_though_it_is_allowed():
    three = FixedToolset(*(RecordingTool(name) for name in ("k8s.get", "k8s.logs", "git.log")))
    assert await names(filtered(three, allow=["k8s.*"], deny=["*.logs"])) == ["k8s.get"]


async def test_what_no_pattern_allows_is_left_out():
    assert await names(filtered(FixedToolset(RecordingTool("k8s.get")), allow=[])) == []


async def test_a_prefix_is_put_before_the_server():
    inner = RecordingTool("k8s.get")
    tool = await one(prefixed(FixedToolset(inner), "west-"))
    assert tool.spec == inner.spec.model_copy(update={"name": "west-k8s.get"})
    await tool.call({"name": "a"}, CONTEXT)
    assert inner.calls == [{"name": "a"}]


def test_a_prefix_that_makes_no_name_stops_the_start():
    with pytest.raises(PermanentError, match=r"no tool may be called 'west\.server\.tool'"):
        prefixed(FixedToolset(), "west.")


async def test_a_read_needs_nobody():
    approver = Approver(approved=False)
    tool = await one(needs_approval(FixedToolset(RecordingTool("k8s.get")), approver))
    assert (await tool.call({}, CONTEXT)).status is Status.OK
    assert approver.asked == []


@pytest.mark.parametrize("capability", NOT_READS)
async def test_a_call_is_approved_by_its_tool_its_arguments_and_for_whom_it_is(capability):
    inner, approver = RecordingTool("git.open", capability), Approver()
    tool = await one(needs_approval(FixedToolset(inner), approver))
    await tool.call({"b": 1, "a": 2}, CONTEXT)
    (asked,) = approver.asked
    assert asked.hash == call_hash("git.open", {"a": 2, "b": 1}, "ada")
    assert (asked.tool, asked.capability, asked.who) == ("git.open", capability, "ada")
    assert (asked.arguments, asked.run_id) == ({"a": 2, "b": 1}, "run-1")
    assert inner.calls == [{"a": 2, "b": 1}]


async def test_a_call_that_was_denied_is_refused_with_the_reason():
    inner = RecordingTool("git.open", PROPOSE)
    approver = Approver(approved=False, why="not on a Friday")
    tool = await one(needs_approval(FixedToolset(inner), approver))
    result = await tool.call({}, CONTEXT)
    assert result.status is Status.REFUSED
    assert result.error == "grace did not approve git.open: not on a Friday"
    assert inner.calls == []


async def test_a_call_is_refused_when_nobody_can_be_asked():
    inner = RecordingTool("git.open", PROPOSE)
    approver = Approver(error=TransientError("chat is away"))
    result = await (await one(needs_approval(FixedToolset(inner), approver))).call({}, CONTEXT)
    assert (result.status, inner.calls) == (Status.REFUSED, [])
    assert "nobody could be asked to approve git.open: chat is away" in result.error


async def test_the_approval_of_another_call_is_none():
    class Careless(Approver):
        async def decide(self, call):
            return CallDecision(hash="of another call", approved=True, by="grace")

    inner = RecordingTool("git.open", PROPOSE)
    result = await (await one(needs_approval(FixedToolset(inner), Careless()))).call({}, CONTEXT)
    assert (result.status, inner.calls) == (Status.REFUSED, [])


async def test_what_was_approved_is_done_whatever_becomes_of_the_arguments_meanwhile():
    inner, sent = RecordingTool("git.open", PROPOSE), {"files": ["a"]}

    def change(call):
        sent["files"].append("b")
        call.arguments["files"].append("c")

    tool = await one(needs_approval(FixedToolset(inner), Approver(change=change)))
    await tool.call(sent, CONTEXT)
    assert inner.calls == [{"files": ["a"]}]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
arguments = st.dictionaries(st.text(max_size=5), json_values, max_size=3)
calls = st.tuples(st.sampled_from(["a.b", "a.c"]), arguments, st.sampled_from(["ada", "eve"]))


@given(calls, calls)
def test_two_calls_have_one_hash_only_if_they_are_the_same_call(first, second):
    same = [json.dumps(call, sort_keys=True) for call in (first, second)]
    assert (call_hash(*first) == call_hash(*second)) == (same[0] == same[1])


async def test_a_tool_is_used_as_often_as_is_allowed_and_no_more():
    inner = RecordingTool("k8s.get")
    toolset = budgeted(FixedToolset(inner), CallCount(of_each=2, in_all=9))
    results = [await (await one(toolset)).call({}, CONTEXT) for _ in range(3)]
    assert [result.status for result in results] == [Status.OK, Status.OK, Status.REFUSED]
    assert results[2].error == "the 2 calls of k8s.get are made; go on with what they said"
    assert len(inner.calls) == 2


async def test_all_tools_together_have_a_budget_too():
    tools = [RecordingTool("k8s.get"), RecordingTool("k8s.logs")]
    toolset = budgeted(FixedToolset(*tools), CallCount(of_each=5, in_all=1))
    first, second = await toolset.tools(ADA)
    assert (await first.call({}, CONTEXT)).status is Status.OK
    assert (await second.call({}, CONTEXT)).error.startswith("the 1 calls of tools are made")


async def test_calls_at_the_same_time_do_not_overspend():
    inner = RecordingTool("k8s.get")
    tool = await one(budgeted(FixedToolset(inner), CallCount(of_each=3, in_all=9)))
    await asyncio.gather(*(tool.call({}, CONTEXT) for _ in range(10)))
    assert len(inner.calls) == 3


class Stuck(RecordingTool):
    ended = False

    async def call(self, arguments, context):
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


async def test_a_call_that_takes_too_long_is_ended_and_is_an_error():
    inner = Stuck("k8s.get")
    result = await (await one(timed(FixedToolset(inner), 0.01))).call({}, CONTEXT)
    assert (result.status, inner.ended) == (Status.ERROR, True)
    assert "k8s.get gave no answer within 0.01 seconds" in result.error


async def test_a_tool_may_have_a_time_of_its_own():
    toolset = timed(FixedToolset(Stuck("k8s.get")), 3600, {"k8s.get": 0.01})
    assert "within 0.01 seconds" in (await (await one(toolset)).call({}, CONTEXT)).error


async def test_a_time_out_of_the_tool_itself_is_not_taken_for_ours():
    class Buggy(RecordingTool):
        async def call(self, arguments, context):
            raise TimeoutError

    with pytest.raises(TimeoutError):
        await (await one(timed(FixedToolset(Buggy("k8s.get")), 60))).call({}, CONTEXT)


secrets = st.lists(st.text("abcdef123", min_size=6, max_size=12), min_size=1, max_size=3)


@st.composite
def leaks(draw):
    """Data with secrets anywhere in it, and the secrets."""
    hidden = draw(secrets)
    text = st.lists(st.sampled_from([*hidden, "x", " "]), max_size=4).map("".join)
    data = st.recursive(
        text | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
        max_leaves=6,
    )
    return hidden, draw(data), draw(text), draw(text)


@given(leaks())
def test_no_configured_secret_is_in_what_a_tool_says(leak):
    hidden, data, error, message = leak
    answer = ToolResult(status=Status.OK, data=data, error=error, message=message)
    toolset = redacted(FixedToolset(RecordingTool("k8s.get", answer=answer)), Redactor(hidden))

    async def said():
        return (await (await one(toolset)).call({}, CONTEXT)).model_dump_json()

    text = asyncio.run(said())
    assert [secret for secret in hidden if secret in text] == []


def nested(levels):
    data = 1
    for _ in range(levels):
        data = [data]
    return data


@pytest.mark.parametrize(
    "data",
    [{"x": "\ud800"}, {"\ud800": 1}, nested(300), 10**5000],
    ids=["text", "key", "deep", "long"],
)
async def test_what_json_cannot_say_is_an_error_of_the_tool_and_of_nobody_else(data):
    inner = RecordingTool("k8s.get", answer=ToolResult(status=Status.OK, data=data))
    tool = await one(redacted(FixedToolset(inner), Redactor([SECRET])))
    result = await tool.call({}, CONTEXT)
    assert (result.status, result.data) == (Status.ERROR, None)
    assert "not JSON" in ToolResult.model_validate_json(result.model_dump_json()).error


async def test_the_error_and_the_progress_of_a_tool_hold_no_secret():
    heard = []

    async def hear(text):
        heard.append(text)

    inner = RecordingTool(f"k8s.{SECRET}", answer=TransientError(f"refused: {SECRET}"))
    tool = await one(redacted(FixedToolset(inner), Redactor([SECRET])))
    result = await tool.call({}, ToolContext(ADA, progress=hear))
    assert (result.status, result.error) == (Status.ERROR, f"refused: {MASK}")
    assert heard == [f"k8s.{MASK} works"]


def watched(inner, audit):
    return audited(FixedToolset(inner), audit, Redactor([SECRET]), Watch())


async def test_a_read_is_recorded_once_with_its_end():
    audit = Audit()
    await (await one(watched(RecordingTool("k8s.get"), audit))).call({"name": "a"}, CONTEXT)
    (entry,) = audit.entries
    assert (entry.who, entry.tool, entry.run_id) == ("ada", "k8s.get", "run-1")
    assert (entry.status, entry.ms, entry.arguments) == (Status.OK, 250, {"name": "a"})
    assert entry.hash == call_hash("k8s.get", {"name": "a"}, "ada")


@pytest.mark.parametrize("capability", NOT_READS)
async def test_what_does_more_than_read_is_recorded_before_it_is_done(capability):
    audit, seen = Audit(), []

    class Looking(RecordingTool):
        async def call(self, arguments, context):
            seen.extend(entry.status for entry in audit.entries)
            return await super().call(arguments, context)

    await (await one(watched(Looking("git.open", capability), audit))).call({}, CONTEXT)
    assert seen == [None]
    assert [entry.status for entry in audit.entries] == [None, Status.OK]


@pytest.mark.parametrize("capability", NOT_READS)
async def test_what_cannot_be_recorded_is_not_done(capability):
    inner, audit = RecordingTool("git.open", capability), Audit(TransientError("the disk is full"))
    result = await (await one(watched(inner, audit))).call({}, CONTEXT)
    assert (result.status, inner.calls) == (Status.REFUSED, [])
    assert "git.open cannot be recorded: the disk is full" in result.error


async def test_a_read_is_answered_though_it_cannot_be_recorded():
    audit = Audit(TransientError("the disk is full"))
    result = await (await one(watched(RecordingTool("k8s.get"), audit))).call({}, CONTEXT)
    assert result.status is Status.OK


async def test_a_call_that_raises_is_recorded_as_an_error():
    inner, audit = RecordingTool("k8s.get", answer=TransientError("away")), Audit()
    with pytest.raises(TransientError):
        await (await one(watched(inner, audit))).call({}, CONTEXT)
    assert [entry.status for entry in audit.entries] == [Status.ERROR]


async def test_around_a_catalogue_it_records_what_was_refused_too():
    audit, everything = Audit(), Identity("eve", capabilities=frozenset(Capability))
    catalogue = Catalogue({"git": FixedToolset(RecordingTool("git.open", PROPOSE))}, Mode.AGENT)
    (tool,) = await audited(catalogue, audit, Redactor(), Watch()).tools(everything)
    await tool.call({}, ToolContext(everything))
    assert [entry.status for entry in audit.entries] == [None, Status.REFUSED]


async def test_no_secret_is_written_down():
    audit = Audit()
    sent = {"text": f"use {SECRET}", SECRET: 1, "password": "anything"}
    await (await one(watched(RecordingTool("git.open", WRITE), audit))).call(sent, CONTEXT)
    assert SECRET not in "".join(entry.model_dump_json() for entry in audit.entries)
    assert audit.entries[0].arguments["password"] == MASK


WRAPPERS = {
    "only_reads": only_reads,
    "filtered": lambda inner: filtered(inner, deny=["*.secret"]),
    "prefixed": lambda inner: prefixed(inner, "p-"),
    "needs_approval": lambda inner: needs_approval(inner, Approver()),
    "budgeted": lambda inner: budgeted(inner, CallCount(of_each=9, in_all=9)),
    "redacted": lambda inner: redacted(inner, Redactor([SECRET])),
    "audited": lambda inner: audited(inner, Audit(), Redactor(), Watch()),
    "timed": lambda inner: timed(inner, 60),
}
stacks = st.lists(st.sampled_from(sorted(WRAPPERS)), max_size=6)


def stacked(toolset, stack):
    for name in stack:
        toolset = WRAPPERS[name](toolset)
    return toolset


@given(stacks, stacks, st.lists(st.sampled_from(Capability), max_size=5))
def test_only_reads_let_nothing_else_through_whatever_is_around_it(below, above, capabilities):
    tools = [RecordingTool(f"s.t{n}", capability) for n, capability in enumerate(capabilities)]
    toolset = stacked(FixedToolset(*tools), [*below, "only_reads", *above])

    async def use():
        for tool in await toolset.tools(ADA):
            assert tool.spec.capability is READ
            await tool.call({}, CONTEXT)

    asyncio.run(use())
    assert {tool.capability for tool in tools if tool.calls} <= {READ}


@given(stacks)
def test_no_wrapper_but_prefixed_changes_what_a_tool_says_it_is(stack):
    inner = RecordingTool("s.t")
    toolset = stacked(FixedToolset(inner), stack)
    spec = asyncio.run(one(toolset)).spec
    prefix = "p-" * stack.count("prefixed")
    assert spec == inner.spec.model_copy(update={"name": f"{prefix}s.t"})


@given(stacks, stacks)
def test_a_secret_is_masked_whatever_is_around(below, above):
    answer = ToolResult(status=Status.OK, data={SECRET: [SECRET]}, message=SECRET)
    inner = RecordingTool("s.t", answer=answer)
    toolset = stacked(FixedToolset(inner), [*below, "redacted", *above])

    async def said():
        return (await (await one(toolset)).call({}, CONTEXT)).model_dump_json()

    assert SECRET not in asyncio.run(said())
