"""What a model is shown fits, and no call is ever separated from its answers."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.outputs import PAGE_CHARACTERS, MemoryOutputs, ReadOutput
from tocsin_agents.loop.quoting import Quoting
from tocsin_agents.loop.trimming import tokens, trimmed
from tocsin_agents.messages import Message, Role, ToolCall
from tocsin_agents.tools.port import Status, ToolContext, ToolResult
from tocsin_testing.agents import ANA

CONTEXT = ToolContext(identity=ANA)
CALL = ToolCall(id="a", name="k8s.logs", arguments="{}")


@st.composite
def conversations(draw):
    """A system text, turns with calls and answers in any number, the last maybe unanswered."""
    texts = st.integers(0, 900).map(lambda length: "x" * length)
    messages = [Message(role=Role.SYSTEM, text=draw(texts)) for _ in range(draw(st.integers(0, 2)))]
    request = len(messages)
    messages.append(Message(role=Role.USER, text=draw(texts)))
    for turn in range(draw(st.integers(0, 6))):
        ids = [f"{turn}-{n}" for n in range(draw(st.integers(0, 3)))]
        calls = tuple(ToolCall(id=id, name="k8s.logs", arguments="{}") for id in ids)
        messages.append(Message(role=Role.ASSISTANT, text=draw(texts), calls=calls))
        messages += [Message(role=Role.TOOL, call=id, text=draw(texts), ref="r") for id in ids]
        if draw(st.booleans()):
            messages.append(Message(role=Role.USER, text=draw(texts)))
    if draw(st.booleans()):
        call = ToolCall(id="open", name="k8s.logs", arguments="{}")
        messages.append(Message(role=Role.ASSISTANT, calls=(call,)))
    return messages, request


@settings(max_examples=30)
@given(conversations(), st.integers(0, 2500))
def test_a_call_and_its_answers_stay_together_and_in_order(conversation, room):
    messages, request = conversation
    kept = trimmed(messages, room, request).messages
    answered = {m.call for m in messages if m.role is Role.TOOL}
    asked = [call.id for m in kept for call in m.calls if call.id in answered]
    assert [m.call for m in kept if m.role is Role.TOOL] == asked
    order = [m.model_copy(update={"text": ""}) for m in messages]
    place = -1
    for message in kept:
        place = order.index(message.model_copy(update={"text": ""}), place + 1)


@settings(max_examples=30)
@given(conversations(), st.integers(0, 2500))
def test_system_texts_the_request_the_newest_and_open_calls_are_never_left_out(conversation, room):
    messages, request = conversation
    kept = trimmed(messages, room, request).messages
    whole = [m for m in messages if m.role is Role.SYSTEM]
    assert [m for m in kept if m.role is Role.SYSTEM] == whole
    assert messages[request] in kept
    open_calls = [m for m in messages if any(call.id == "open" for call in m.calls)]
    assert all(m in kept for m in open_calls)
    newest = messages[-1]
    assert (kept[-1].role, kept[-1].call) == (newest.role, newest.call)


@settings(max_examples=30)
@given(conversations(), st.integers(0, 2500))
def test_it_fits_or_nothing_is_left_to_leave_out(conversation, room):
    messages, request = conversation
    found = trimmed(messages, room, request)
    if sum(map(tokens, messages)) <= room:
        assert found.messages == tuple(messages)
        assert found.left_out == 0
    if sum(map(tokens, found.messages)) > room:
        tools = [m for m in found.messages if m.role is Role.TOOL]
        assert all(len(m.text) < 70 for m in tools)
    assert trimmed(messages, room, request) == found


def test_the_oldest_output_goes_first_and_says_where_it_is():
    messages = [Message(role=Role.USER, text="why?")]
    for n in range(3):
        call = ToolCall(id=str(n), name="k8s.logs", arguments="{}")
        messages.append(Message(role=Role.ASSISTANT, calls=(call,)))
        messages.append(Message(role=Role.TOOL, call=str(n), text="x" * 600, ref=f"ref{n}"))
    found = trimmed(messages, sum(map(tokens, messages)) - 1, 0)
    first, *others = (m.text for m in found.messages if m.role is Role.TOOL)
    assert first == '(left out to save room; read_output(ref="ref0") gives it again)'
    assert others == ["x" * 600] * 2
    assert found.left_out == 1


def quoting(outputs=None, most=8000):
    nonces = iter(f"n{n}" for n in range(100))
    return Quoting(outputs or MemoryOutputs(), lambda: next(nonces), most)


def ok(data, **fields):
    return ToolResult(status=Status.OK, data=data, **fields)


async def test_a_result_stands_between_marks_that_change_with_each_call():
    quote = quoting()
    texts = [(await quote.message("r", CALL, ok("hello"))).text for _ in range(2)]
    assert texts == [f"ok\n<<<output n{n}>>>\nhello\n<<<end n{n}>>>" for n in range(2)]


def test_a_mark_cannot_be_foreseen():
    marks = {Engine().quoting.nonce() for _ in range(100)}
    assert len(marks) == 100
    assert {len(mark) for mark in marks} == {16}


async def test_what_nobody_can_see_does_not_reach_the_model():
    said = await quoting().message("r", CALL, ok("a\u200b\x1b[31mb\u202e"))
    assert said.text.splitlines()[2] == "ab"


async def test_an_error_with_its_advice_is_quoted_too():
    wrong = ToolResult(status=Status.ERROR, error="no such pod", message="Ask for the list.")
    said = await quoting().message("r", CALL, wrong)
    assert said.text.splitlines() == [
        "error",
        "<<<output n0>>>",
        "no such pod",
        "Ask for the list.",
        "<<<end n0>>>",
    ]


async def test_a_long_output_is_cut_and_stays_reachable():
    outputs = MemoryOutputs()
    whole = "".join(f"line {n}\n" for n in range(2000))
    said = await quoting(outputs, 500).message("run", CALL, ok(whole))
    assert len(said.text) < 700
    assert f'(cut; all {len(whole)} characters: read_output(ref="{said.ref}"))' in said.text
    reader, read, offset = ReadOutput(outputs, "run"), "", 0
    while len(read) < len(whole):
        page = await reader.call({"ref": said.ref, "offset": offset}, CONTEXT)
        assert len(page.data) <= PAGE_CHARACTERS
        read += page.data
        offset += len(page.data)
    assert read == whole


async def test_the_same_output_has_the_same_ref_and_a_short_one_none():
    quote = quoting()
    refs = [(await quote.message("r", CALL, ok("x" * 1000))).ref for _ in range(2)]
    assert refs[0] == refs[1] != ""
    assert (await quote.message("r", CALL, ok("x"))).ref == ""


async def test_nobody_reads_what_another_run_has_kept():
    outputs = MemoryOutputs()
    ref = await outputs.keep("run", "secret plans")
    found = await ReadOutput(outputs, "other").call({"ref": ref}, CONTEXT)
    assert (found.status, found.error) == (Status.ERROR, "unknown ref")


async def test_wrong_arguments_say_which_and_a_page_beyond_the_end_is_empty():
    outputs = MemoryOutputs()
    ref = await outputs.keep("run", "abc")
    reader = ReadOutput(outputs, "run")
    wrong = await reader.call({"ref": ref, "offset": -1, "page": 2}, CONTEXT)
    assert "offset" in wrong.message
    assert "page" in wrong.message
    assert (await reader.call({"ref": ref, "offset": 9}, CONTEXT)).data == ""


async def test_the_oldest_outputs_go_when_there_is_no_room():
    outputs = MemoryOutputs(most=10)
    refs = [await outputs.keep("run", letter * 6) for letter in "ab"]
    assert await outputs.read("run", refs[0], 0, 9) is None
    assert (await outputs.read("run", refs[1], 0, 9)).text == "bbbbbb"


class Full:
    """Outputs that have no room left."""

    async def keep(self, scope, text):
        return ""

    async def read(self, scope, ref, offset, most):
        return None


async def test_an_output_that_cannot_be_kept_says_so_and_names_no_ref():
    result = ToolResult(status=Status.OK, data="x" * 5000)
    message = await Quoting(Full(), lambda: "mark", 1000).message("run", CALL, result)
    assert "5000 characters are not kept" in message.text
    assert "read_output" not in message.text
