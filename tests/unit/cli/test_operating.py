"""Commands of operators against a small gateway: what they ask, say, and end with."""

import json
from contextlib import aclosing

import httpx
import pytest

from tocsin_cli import app, operating
from tocsin_cli.commands import events
from tocsin_cli.errors import RefusedError, UnreachableError
from tocsin_cli.settings import Access
from tocsin_cli.tailing import Tail, Wanted
from tocsin_contracts import Severity
from tocsin_contracts.feed import FactView
from tocsin_contracts.operations import EscalateView, RerunView
from tocsin_testing import build
from tocsin_testing.build import NOW
from tocsin_testing.fake_parked import letter

ACCESS = Access("http://gateway.test", "t0k3n")
REPLAYED = build.dead_letter_replayed(reopens="investigating")
DISCARDED = build.dead_letter_discarded(reason="a test")
PAGE = {"letters": [json.loads(letter(8, cause="a\x1b[31mb").model_dump_json())], "total": 3}
ANSWERS = {
    "GET /api/v1/deadletters": json.dumps(PAGE),
    "GET /api/v1/deadletters/7": letter(7).model_dump_json(),
    "POST /api/v1/deadletters/7/replay": REPLAYED.model_dump_json(),
    "POST /api/v1/deadletters/7/discard": DISCARDED.model_dump_json(),
    "POST /api/v1/runs/r1/rerun": RerunView(
        run_id="r9", of="r1", by="ana", at=NOW
    ).model_dump_json(),
    "POST /api/v1/runs/r1/escalate": EscalateView(run_id="r1", by="ana", at=NOW).model_dump_json(),
    "GET /api/v1/runs/r1/report": "# Incident: @\u200bx\n",
}


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Answer every command from memory; what was asked is kept."""
    seen = []

    def answer(request):
        seen.append((f"{request.method} {request.url.path}", request.content.decode()))
        found = ANSWERS.get(seen[-1][0])
        if found is None:
            error = {"error": "there is no dead letter 9", "hint": "look at the list"}
            return httpx.Response(404, json=error)
        return httpx.Response(200, text=found)

    class Operator(operating.Operator):
        def __init__(self, access):
            super().__init__(access, httpx.MockTransport(answer))

    monkeypatch.setattr(operating, "Operator", Operator)
    monkeypatch.setenv("TOCSIN_GATEWAY_URL", ACCESS.url)
    monkeypatch.setenv("TOCSIN_API_TOKEN", ACCESS.token)
    monkeypatch.chdir(tmp_path)
    return seen


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dlq list", "incident.opened.v1"),
        ("dlq list", "1 of 3"),
        ("dlq show 7", "it ended the run"),
        ("dlq replay 7 --reason mended", "letter 7 of rca is given again; run r1 goes on"),
        ("dlq discard 7 --reason x", "letter 7 of rca is gone"),
        ("run rerun r1", "run r9 looks at the alerts of r1 again"),
        ("run escalate r1", "run r1 is taken over by ana"),
        ("report r1", "# Incident: @\u200bx"),
    ],
)
def test_each_command_says_what_was_done(asked, capsys, line, said):
    assert app.main(line.split()) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        "dlq list",
        "dlq show 7",
        "dlq replay 7",
        "dlq discard 7 --reason x",
        "run rerun r1",
        "run escalate r1",
    ],
)
def test_each_command_speaks_json(asked, capsys, line):
    assert app.main([*line.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_what_services_wrote_cannot_steer_the_terminal(asked, capsys):
    app.main(["dlq", "list"])
    assert "\x1b" not in capsys.readouterr().out


def test_a_reason_reaches_the_gateway(asked):
    app.main(["run", "escalate", "r1", "--reason", "we look ourselves"])
    assert asked[-1][1] == '{"reason":"we look ourselves"}'


def test_a_letter_that_is_gone_is_a_failure_that_says_so(asked, capsys):
    assert app.main(["dlq", "show", "9"]) == 1
    assert "there is no dead letter 9; look at the list" in capsys.readouterr().err


def test_a_letter_is_thrown_away_with_a_reason_only(asked):
    assert app.main(["dlq", "discard", "7"]) == 2
    assert asked == []


def fact(number, **changes):
    fields = {"number": number, "id": f"e{number}", "topic": "run.finished.v1", "run_id": "r1"}
    told = {"at": NOW, "producer": "action", "severity": "critical", "text": "It is over."}
    return FactView.model_validate(fields | told | changes)


def frames(*numbers):
    told = "".join(f"id: {n}\ndata: {fact(n).model_dump_json()}\n\n" for n in numbers)
    return "retry: 2000\n: reached\nid: 1\n\n" + told if numbers else ": beat\nid: 1\n\n"


class Feed(httpx.AsyncBaseTransport):
    """Answers one connection after the other; an exception is a broken one."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    async def handle_async_request(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, text=answer)


async def told(feed, wanted, count):
    found = []
    async with Tail(ACCESS, feed) as tail, aclosing(tail.facts(wanted, retry_seconds=0)) as facts:
        async for one in facts:
            found.append(one.number)
            if len(found) == count:
                return found
    return found


async def test_a_broken_connection_is_resumed_after_the_last_fact():
    feed = Feed(frames(2, 3), httpx.ConnectError("gone"), httpx.Response(503), frames(4))
    assert await told(feed, Wanted(), 3) == [2, 3, 4]
    assert [request.headers.get("last-event-id") for request in feed.requests] == [
        None,
        "3",
        "3",
        "3",
    ]


async def test_what_is_wanted_is_asked_for():
    feed = Feed(frames(2))
    await told(feed, Wanted("r1", ("approval", "run"), (Severity.CRITICAL,), 0), 1)
    request = feed.requests[0]
    assert request.url.query == b"run=r1&topic=approval&topic=run&severity=critical"
    assert request.headers["last-event-id"] == "0"


async def test_a_gateway_that_never_answered_is_told_at_once():
    with pytest.raises(UnreachableError):
        await told(Feed(httpx.ConnectError("nobody")), Wanted(), 1)


async def test_a_no_is_not_tried_again():
    refusal = httpx.Response(403, json={"error": "needs the role viewer"})
    with pytest.raises(RefusedError, match="viewer"):
        await told(Feed(refusal), Wanted(), 1)


def test_a_fact_is_one_line_whatever_it_holds():
    assert "\n" not in events.line(fact(7, text="a\nb\x1b[2J")).plain
    assert "\x1b" not in events.line(fact(7, text="a\nb\x1b[2J")).plain


def test_rebuild_wants_one_run_or_all(asked, capsys):
    assert app.main(["run", "rebuild"]) == 2
    assert app.main(["run", "rebuild", "r1", "--all"]) == 2
