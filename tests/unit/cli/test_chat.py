"""`tocsin chat`: words as they come, a line for each tool, and a connection that may break."""

import asyncio
import json
import os
import signal

import httpx
import pytest

from tocsin_cli import app
from tocsin_cli.chatting import Chatting
from tocsin_cli.commands import chat as command
from tocsin_cli.settings import Access
from tocsin_testing.chatting import SESSION

AT = {"at": "2026-11-27T09:00:00Z", "turn": "t1"}
OPENED = AT | {"type": "status", "state": "opened", "session": SESSION}
CALLED = AT | {"type": "tool_call", "number": 1, "call": "c", "tool": "k8s.get", "arguments": "{}"}
FIRST = AT | {"type": "message", "number": 2, "text": "It is \x1b[31mits "}
SECOND = AT | {"type": "message", "number": 3, "text": "memory."}
USED = AT | {
    "type": "usage",
    "number": 4,
    "total": {"models": ["own/model"], "tokens": 120, "cost": None},
}
ENDED = AT | {"type": "status", "number": 5, "state": "ended", "ending": "answered"}
WANTS = AT | {
    "type": "confirmation_request",
    "number": 2,
    "id": "x1",
    "tool": "tocsin.start_investigation",
    "arguments": "name: web",
    "until": "2026-11-27T09:02:00Z",
}
STARTED = ENDED | {"started": ["r7"]}


class Stream(httpx.AsyncByteStream):
    """Server-sent events that end, or break off."""

    def __init__(self, frames, breaks, on_frame=None):
        self.frames, self.breaks, self.on_frame = frames, breaks, on_frame

    async def __aiter__(self):
        for frame in self.frames:
            yield f"data: {json.dumps(frame)}\n\n".encode()
            if self.on_frame:
                self.on_frame(frame)
            for _ in range(5):
                await asyncio.sleep(0)
        if self.breaks:
            raise httpx.ReadError("gone")


class Gateway:
    """Answers a question with streams, one after the other, and keeps what it was asked."""

    def __init__(self, *streams, on_frame=None):
        self.streams, self.asked, self.on_frame = list(streams), [], on_frame

    def __call__(self, request):
        path = request.url.path.removeprefix("/api/v1/chat")
        self.asked.append((request.method, path, request.headers.get("last-event-id"), request))
        if path.endswith(("/cancel", "/confirm")):
            return httpx.Response(204)
        if path.endswith("/attachments"):
            file = {"id": "a" * 16, "name": "a", "kind": "text", "media_type": "t", "size": 1}
            return httpx.Response(200, json={"session": SESSION, "attachments": [file]})
        if path == "/sessions":
            return httpx.Response(200, json={"session": SESSION})
        stream = self.streams.pop(0)
        if isinstance(stream, int):
            return httpx.Response(stream, json={"error": "a question is being answered"})
        frames, breaks = stream
        return httpx.Response(200, stream=Stream(frames, breaks, self.on_frame))


@pytest.fixture
def against(monkeypatch):
    def run(gateway, *arguments):
        transport = httpx.MockTransport(gateway)
        monkeypatch.setattr(command, "Chatting", lambda given: Chatting(given, transport))
        monkeypatch.setattr(
            command, "access", lambda *_: Access("http://gateway", "token-of-ana-0123456789")
        )
        return app.main(["chat", *arguments])

    return run


def test_words_come_as_they_are_said_with_a_line_for_each_tool(against, capsys):
    gateway = Gateway(([OPENED, CALLED, FIRST, SECOND, USED, ENDED], False))
    assert against(gateway, "Why?", "--run", "r1") == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "  · k8s.get {}",
        "It is \\x1b[31mits memory.",
        "(own/model: 120 tokens, cost unknown)",
    ]
    asked = json.loads(gateway.asked[0][3].content)
    assert (asked["mode"], asked["context"]["run"]) == ("ask", "r1")


def test_a_connection_that_breaks_is_resumed_after_the_last_frame(against, capsys):
    gateway = Gateway(([OPENED, CALLED, FIRST], True), 503, ([OPENED, SECOND, ENDED], False))
    assert against(gateway, "Why?") == 0
    assert capsys.readouterr().out.endswith("its memory.\n")
    where = f"/sessions/{SESSION}/frames"
    assert [one[:3] for one in gateway.asked[1:]] == [("GET", where, "2")] * 2


def test_json_is_a_frame_a_line_and_says_no_to_what_needs_a_yes(against, capsys):
    gateway = Gateway(([OPENED, WANTS, STARTED], False))
    assert against(gateway, "Start.", "--mode", "agent", "--json") == 0
    frames = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [frame["type"] for frame in frames] == ["status", "confirmation_request", "status"]
    (_, path, _, request) = gateway.asked[1]
    assert path == f"/sessions/{SESSION}/confirm"
    assert json.loads(request.content)["approved"] is False


def test_a_run_that_was_started_is_named_with_the_command_that_watches_it(against, capsys):
    assert against(Gateway(([OPENED, STARTED], False)), "Start.", "--mode", "agent") == 0
    assert "tocsin run watch r7" in capsys.readouterr().out


def test_ctrl_c_ends_the_turn_and_not_the_program(against, capsys):
    def interrupted(frame):
        if frame is FIRST:
            os.kill(os.getpid(), signal.SIGINT)

    cancelled = ENDED | {"ending": "cancelled"}
    gateway = Gateway(([OPENED, FIRST, SECOND, cancelled], False), on_frame=interrupted)
    assert against(gateway, "Why?") == 130
    assert "(cancelled)" in capsys.readouterr().out
    assert gateway.asked[1][:2] == ("POST", f"/sessions/{SESSION}/cancel")


def test_files_go_before_the_question_and_are_named_in_it(against, tmp_path):
    file = tmp_path / "app.log"
    file.write_bytes(b"boom")
    gateway = Gateway(([OPENED, ENDED], False))
    assert against(gateway, "What is this?", "--file", str(file)) == 0
    paths = [one[1] for one in gateway.asked]
    assert paths == ["/sessions", f"/sessions/{SESSION}/attachments", ""]
    asked = json.loads(gateway.asked[-1][3].content)
    assert (asked["session"], asked["attachments"]) == (SESSION, ["a" * 16])


CODES = {"refused": (409, 3), "away": (503, 4)}


@pytest.mark.parametrize(("status", "code"), CODES.values(), ids=CODES)
def test_a_question_that_is_not_taken_says_why(against, capsys, status, code):
    assert against(Gateway(status), "Why?") == code
    assert "a question is being answered" in capsys.readouterr().err


def test_json_without_a_question_is_wrong_usage(against):
    assert against(Gateway(), "--json") == 2
