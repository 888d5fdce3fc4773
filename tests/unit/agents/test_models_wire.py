"""What a provider is sent, and what is made of its stream: names survive, nothing is lost."""

import json
import re
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from tocsin_agents.messages import Message, Role, ToolCall
from tocsin_agents.models import wire
from tocsin_agents.models.gathering import Gathering
from tocsin_agents.models.port import OfferedTool, Question
from tocsin_agents.models.prices import Counted

PART = st.text("abcxyz019_-", min_size=1, max_size=50)
NAME = st.builds("{}.{}".format, PART, PART)


def tool(name):
    return OfferedTool(name=name, description="d", parameters={"type": "object"})


def question(*messages, tools=(), **more):
    return Question(messages=messages, tools=tools, **more)


def said(role, text="", **more):
    return Message(role=role, text=text, **more)


@given(st.lists(NAME, unique=True, max_size=20))
def test_every_tool_has_a_name_that_providers_take_and_that_leads_back(names):
    functions = [wire.wire_name(name) for name in names]
    assert [one for one in functions if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one)] == []
    back = wire.Names(map(tool, names))
    assert [back.tool(function) for function in functions] == names


def test_the_usual_name_stays_readable():
    assert wire.wire_name("k8s.get-logs") == "k8s__get-logs"


def test_names_that_differ_in_a_dot_do_not_meet():
    assert wire.wire_name("a_.b") != wire.wire_name("a._b")


def test_a_tool_that_was_never_offered_keeps_the_name_that_the_model_gave():
    assert wire.Names([tool("k8s.get")]).tool("rm_rf") == "rm_rf"


def test_a_conversation_with_calls_and_their_answers_is_sent_whole():
    call = ToolCall(id="c1", name="k8s.get", arguments='{"name": "api"}')
    messages = wire.messages(
        question(
            said(Role.SYSTEM, "rules"),
            said(Role.USER, "why?"),
            said(Role.ASSISTANT, calls=(call,)),
            said(Role.TOOL, "pod", call="c1"),
        ),
        marked=False,
    )
    function = {"name": "k8s__get", "arguments": '{"name": "api"}'}
    assert messages == [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "why?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "pod", "tool_call_id": "c1"},
    ]


def test_arguments_that_were_no_object_are_sent_back_as_none():
    calls = tuple(ToolCall(id=a, name="x.y", arguments=a) for a in ("{", "[]", "null", "[" * 9999))
    (message,) = wire.messages(question(said(Role.ASSISTANT, calls=calls)), marked=False)
    sent = {call["function"]["arguments"] for call in message["tool_calls"]}
    assert sent == {"{}"}


def test_the_last_stable_message_and_the_last_tool_say_what_may_be_cached():
    asked = question(
        said(Role.SYSTEM, "policy", stable=True),
        said(Role.SYSTEM, "skills", stable=True),
        said(Role.USER, "why?"),
        tools=(tool("a.b"), tool("c.d")),
    )
    mark = {"cache_control": {"type": "ephemeral"}}
    policy, skills, why = (one["content"] for one in wire.messages(asked, marked=True))
    assert (policy, why) == ("policy", "why?")
    assert skills == [{"type": "text", "text": "skills"} | mark]
    assert [one.get("cache_control") for one in wire.tools(asked, marked=True)] == [
        None,
        mark["cache_control"],
    ]
    assert "cache_control" not in json.dumps(
        [wire.messages(asked, marked=False), wire.tools(asked, marked=False)]
    )


def test_only_providers_that_want_marks_get_them():
    assert wire.takes_marks("bedrock/anthropic.claude-sonnet-4-5")
    assert not wire.takes_marks("openai/gpt-5")


def test_a_forced_tool_is_asked_for_by_its_function():
    asked = question(said(Role.USER, "x"), tools=(tool("rca.submit"),), forced="rca.submit")
    assert wire.choice(asked) == {"type": "function", "function": {"name": "rca__submit"}}
    assert wire.choice(question(said(Role.USER, "x"))) is None


def piece(place, id=None, name=None, arguments=None):
    return SimpleNamespace(
        index=place, id=id, function=SimpleNamespace(name=name, arguments=arguments)
    )


def test_what_stands_before_a_changing_text_stays_in_the_cache():
    asked = question(
        said(Role.SYSTEM, "policy", stable=True),
        said(Role.SYSTEM, "now"),
        said(Role.SYSTEM, "skills", stable=True),
        said(Role.SYSTEM, "role", stable=True),
        said(Role.USER, "why?"),
    )
    marked = [not isinstance(one["content"], str) for one in wire.messages(asked, marked=True)]
    assert marked == [True, False, False, True, False]


def chunk(*, text=None, thought=None, tools=None, finish=None):
    delta = SimpleNamespace(content=text, reasoning_content=thought, tool_calls=tools)
    return SimpleNamespace(choices=[SimpleNamespace(delta=delta, finish_reason=finish)])


def gathered(*chunks):
    found = Gathering()
    told = [found.take(one) for one in chunks]
    return found, "".join(told)


def test_text_is_told_as_it_comes_and_thoughts_never_are():
    found, told = gathered(chunk(thought="hm"), chunk(text="a "), chunk(text="b", finish="stop"))
    assert (found.text, found.thought, found.finish) == ("a b", "hm", "stop")
    assert told == "a b"


def test_calls_that_come_in_pieces_and_side_by_side_are_put_together():
    found, _ = gathered(
        chunk(tools=[piece(0, "c1", "k8s__get", ""), piece(1, "c2", "k8s__list")]),
        chunk(tools=[piece(1, arguments='{"b":')]),
        chunk(tools=[piece(0, arguments='{"a": 1}'), piece(1, arguments="2}")]),
    )
    assert found.calls(wire.Names([tool("k8s.get"), tool("k8s.list")])) == (
        ToolCall(id="c1", name="k8s.get", arguments='{"a": 1}'),
        ToolCall(id="c2", name="k8s.list", arguments='{"b":2}'),
    )


def test_calls_of_a_provider_that_counts_none_stay_apart():
    found, _ = gathered(
        chunk(tools=[piece(0, "c1", "x", "{}")]), chunk(tools=[piece(0, "c2", "y", "{}")])
    )
    assert [call.name for call in found.calls(wire.Names([]))] == ["x", "y"]


def test_a_call_without_an_id_or_arguments_gets_some():
    found, _ = gathered(chunk(tools=[piece(None, None, "x")]))
    assert found.calls(wire.Names([])) == (ToolCall(id="call-1", name="x", arguments="{}"),)


def test_half_a_character_is_joined_to_its_other_half_or_shown_as_unreadable():
    half, rest = "\ud83d", "\ude00"
    found, told = gathered(
        chunk(text=f"a{half}"),
        chunk(text=f"{rest} {rest}"),
        chunk(thought=half),
        chunk(tools=[piece(0, f"c{half}", "x", f'{{"a": "{half}')]),
        chunk(tools=[piece(0, arguments=f'{rest}"}}')]),
    )
    assert found.text == "a\N{GRINNING FACE} \N{REPLACEMENT CHARACTER}"
    (call,) = found.calls(wire.Names([]))
    assert call.arguments == '{"a": "\N{GRINNING FACE}"}'
    assert all(text.encode() for text in (told, found.thought, call.id))


def test_usage_is_unknown_until_the_stream_tells_it():
    found, _ = gathered(chunk(text="a"))
    assert found.counted is None
    details = SimpleNamespace(cached_tokens=40)
    usage = SimpleNamespace(
        prompt_tokens=50,
        completion_tokens=3,
        prompt_tokens_details=details,
        cache_creation_input_tokens=7,
    )
    assert found.take(SimpleNamespace(usage=usage, choices=[])) == ""
    assert found.counted == Counted(input=50, cached=40, written=7, output=3)
