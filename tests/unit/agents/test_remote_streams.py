"""Whatever shape an external agent answers in, and however its bytes arrive: one text."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin_agents.remote.sse import Events
from tocsin_agents.remote.streams import Heard

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


def heard(*shapes):
    found = Heard()
    told = [found.take(one if isinstance(one, str) else json.dumps(one)) for one in shapes]
    return found, "".join(told)


def texts(body, cuts):
    events, found, places = Events(), [], sorted({0, *cuts, len(body)})
    for start, end in pairwise(places):
        found += events.feed(body[start:end])
    return found + events.end()


@given(st.lists(TEXT, max_size=6), st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_however_the_bytes_are_cut_the_text_is_the_same(pieces, newline, data):
    shapes = [json.dumps({"content": piece}, ensure_ascii=False) for piece in pieces]
    body = "".join(f"data: {one}{newline}{newline}" for one in shapes).encode()
    cuts = data.draw(st.sets(st.integers(0, len(body))))
    assert heard(*texts(body, cuts))[0].text == "".join(pieces)


@given(st.binary(max_size=80), st.data())
def test_however_any_bytes_are_cut_the_events_are_the_same(body, data):
    cuts = data.draw(st.sets(st.integers(0, len(body))))
    assert texts(body, cuts) == texts(body, ())


KEYS = (
    *("type", "text", "content", "delta", "error", "result", "jsonrpc", "kind", "status"),
    *("message", "parts", "artifact", "artifacts", "task", "metadata", "state", "data"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["task", "message", "text", ""]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_json_breaks_it(value):
    found, told = heard(json.dumps(value))
    assert isinstance(found.text + told + found.failure, str)


def test_an_event_of_several_lines_is_one_text():
    body = b"\xef\xbb\xbf: a comment\nevent: x\nid: 7\ndata: one\ndata:two\ndata:  three\n\n"
    assert texts(body, ()) == ["one\ntwo\n three"]


def test_the_last_event_counts_though_its_end_never_came():
    assert texts(b"data: a\n\ndata: b", ()) == ["a", "b"]


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "text", "text": "hello"},
        {"text": "hello"},
        {"content": "hello"},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hello"}},
        {"delta": {"text": "hello"}},
        "hello",
        '"hello"',
    ],
    ids=str,
)
def test_every_simple_shape_is_its_text(shape):
    found, told = heard(shape, "[DONE]")
    assert (found.text, told, found.ended, found.failure) == ("hello", "hello", True, "")


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "thinking", "text": "hm"},
        {"type": "tool_call", "content": "rm"},
        {"type": "ping"},
        {"content": ["x"]},
        {"delta": "x"},
    ],
    ids=str,
)
def test_what_is_no_text_for_people_is_left_out(shape):
    assert heard(shape)[0].text == ""


@pytest.mark.parametrize("raw", ["42", "null", "[1]", "{half", "[" * 9999])
def test_what_is_no_object_is_raw_text(raw):
    assert heard(raw)[0].text == raw


def rpc(result):
    return {"jsonrpc": "2.0", "id": "1", "result": result}


def parts(*texts, **metadata):
    return [{"kind": "text", "text": text, "metadata": metadata} for text in texts]


def status(state, *texts, **more):
    message = {"kind": "message", "role": "agent", "parts": parts(*texts)}
    return rpc({"kind": "status-update", "status": {"state": state, "message": message}, **more})


def artifact(text, id="a", **more):
    return rpc(
        {"kind": "artifact-update", "artifact": {"artifactId": id, "parts": parts(text)}, **more}
    )


def test_what_an_agent_hands_over_is_the_answer_and_not_what_it_said_on_the_way():
    found, told = heard(
        status("submitted"),
        status("working", "looking"),
        artifact("the pod "),
        artifact("is out of memory", append=True),
        artifact("second", "b"),
        status("completed", final=True),
    )
    assert found.text == "the pod is out of memory\n\nsecond"
    assert told == "lookingthe pod is out of memorysecond"
    assert found.ended


def test_an_artifact_that_comes_again_replaces_itself():
    assert heard(artifact("half"), artifact("whole"))[0].text == "whole"


def test_without_an_artifact_the_last_message_is_the_answer():
    found, _ = heard(status("working", "looking"), status("completed", "found it"))
    assert (found.text, found.ended) == ("found it", True)


def test_a_task_that_comes_whole_is_read():
    task = {
        "id": "t",
        "kind": "task",
        "status": {"state": "completed"},
        "artifacts": [{"artifactId": "a", "parts": parts("done")}],
        "history": [{"kind": "message", "parts": parts("why?")}],
    }
    assert heard(rpc(task))[0].text == "done"


def test_a_message_is_an_answer_by_itself():
    found, _ = heard(rpc({"kind": "message", "role": "agent", "parts": parts("hi ", "you")}))
    assert (found.text, found.ended) == ("hi you", True)


def test_version_one_is_read_as_well():
    found, _ = heard(
        rpc({"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}}),
        rpc({"statusUpdate": {"status": {"state": "TASK_STATE_WORKING"}}}),
        rpc({"artifactUpdate": {"artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}}),
        rpc({"statusUpdate": {"status": {"state": "TASK_STATE_COMPLETED"}}}),
    )
    assert (found.text, found.ended, found.failure) == ("x", True, "")
    assert heard(rpc({"message": {"role": "ROLE_AGENT", "parts": [{"text": "y"}]}}))[0].text == "y"


def test_events_that_do_not_say_what_they_are_are_told_apart():
    found, _ = heard(
        rpc({"status": {"state": "working"}}),
        rpc({"artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}),
        rpc({"status": {"state": "completed"}, "artifacts": []}),
    )
    assert (found.text, found.ended) == ("x", True)


def test_thoughts_are_never_an_answer():
    thought = {"kind": "message", "parts": parts("hm", adk_thought=True)}
    assert heard(rpc(thought))[0].text == ""


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        (status("failed", "no quota"), "failed: no quota"),
        (status("TASK_STATE_REJECTED"), "rejected"),
        (status("input_required", "which cluster?"), "input-required: which cluster?"),
        ({"jsonrpc": "2.0", "error": {"code": -32603, "message": "broken"}}, "broken"),
        ({"error": "broken"}, "broken"),
        ({"type": "error", "error": {"message": "broken"}}, "broken"),
        ({"error": None}, "it failed and did not say why"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_agent_that_gives_up_says_why(shape, why):
    found, _ = heard("begun", shape)
    assert (found.failure, found.ended) == (why, True)


def test_the_tools_that_an_agent_says_it_used_are_named_once_if_they_can_be_names():
    def call(name):
        part = {"kind": "data", "metadata": {"kagent_type": "function_call"}, "data": name}
        return status("working") | rpc(
            {"kind": "status-update", "status": {"state": "working", "message": {"parts": [part]}}}
        )

    names = ["get_pods", "get_pods", "rm -rf /", "", None, "x" * 200, "k8s.get"]
    found, _ = heard(*(call({"name": name}) for name in names), call("odd"))
    assert found.tools == ["get_pods", "k8s.get"]
