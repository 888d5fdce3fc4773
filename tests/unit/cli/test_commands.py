"""Commands against a small gateway: what they say, and with which code they end."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tocsin_cli import app
from tocsin_cli.commands import run as commands_run
from tocsin_cli.commands import up
from tocsin_cli.errors import UsageError
from tocsin_cli.workspace import Up, Workspace
from tocsin_contracts import EndReason, Exhausted, RunState
from tocsin_contracts.views import BudgetView, FinishedView, RunView

RUN = json.loads(Path(__file__).with_name("sample.run.json").read_bytes())
HASH = RUN["plan"]["plan_hash"]
ENDED = FinishedView(
    outcome=RunState.CANCELLED, reason=EndReason.CANCELLED_BY_USER, sentence="Stopped."
)
DECISION = {"run_id": "r7f3", "by": "local", "at": "2026-11-27T09:00:00Z"}


class Handler(BaseHTTPRequestHandler):
    """Knows one run, and remembers what was decided about it."""

    decided: list[tuple[str, dict[str, str]]]

    def do_GET(self):
        known = {"/api/v1/runs/r7f3": RUN, "/api/v1/runs?limit=50": {"runs": [RUN]}}
        if self.path in known:
            self.answer(200, known[self.path])
        else:
            self.answer(404, {"error": "no such run", "hint": "see tocsin run list"})

    def do_POST(self):
        verb = self.path.rpartition("/")[2]
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.decided.append((verb, body))
        if body.get("reason") == "too late":
            self.answer(409, {"error": "already granted", "hint": "by ann at 09:00"})
        else:
            said = {"decision": "granted" if verb == "approve" else "denied"}
            self.answer(200, DECISION | said | {"granted": body.get("granted", False)})

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    for name in ("TOCSIN_GATEWAY_URL", "TOCSIN_API_TOKEN", "TOCSIN_CONFIG", "TOCSIN_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def decided(tmp_path):
    Handler.decided = []
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        announced = Up(gateway_url=url, ingest_url="", nats_url="", redis_url="", pids={})
        workspace = Workspace(tmp_path / ".tocsin")
        with workspace.claimed():
            workspace.announce(announced)
            yield Handler.decided
        server.shutdown()
        thread.join()


def run(*arguments: str) -> int:
    return app.main(arguments)


def test_the_list_and_the_run_are_found_through_the_folder(decided, capsys):
    assert run("run", "list") == 0
    assert "r7f3  awaiting_approval" in capsys.readouterr().out
    assert run("run", "show", "r7f3") == 0
    assert "2026-11-27" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["show", "watch"])
def test_a_run_that_waits_for_a_decision_says_once_how_to_decide(
    decided, capsys, monkeypatch, verb
):
    async def follow(*_):
        waits = RunView.model_validate(RUN)
        yield waits
        yield waits
        yield waits.model_copy(update={"finished": ENDED})

    monkeypatch.setattr(commands_run, "follow", follow)
    assert run("run", verb, "r7f3") == 0
    said = capsys.readouterr().out
    assert said.count("Decide:\n") == 1
    assert "\n  tocsin run approve r7f3\n  tocsin run reject r7f3 --reason WHY\n" in said


def test_a_run_that_waits_for_a_larger_budget_says_how_to_answer(decided, capsys, monkeypatch):
    limit = Exhausted(scope="run", measure="tokens", limit="10", used="9")
    waits = BudgetView(exhausted=limit, waits=True).model_dump(mode="json")
    monkeypatch.setitem(RUN, "budget", waits)
    assert run("run", "show", "r7f3") == 0
    said = capsys.readouterr().out
    assert said.endswith(
        "end:\n  tocsin run extend r7f3 --calls 10\n  tocsin run extend r7f3 --end\n"
    )


def test_json_is_what_the_gateway_said(decided, capsys):
    assert run("run", "show", "r7f3", "--json") == 0
    assert json.loads(capsys.readouterr().out)["plan"]["plan_hash"] == HASH
    assert run("run", "list", "--json") == 0
    assert [line["run_id"] for line in json.loads(capsys.readouterr().out)] == ["r7f3"]


def test_an_approval_names_the_hash_that_was_seen(decided, capsys):
    assert run("run", "approve", "r7f3", "--plan-hash", HASH[:12]) == 0
    assert decided == [("approve", {"plan_hash": HASH, "reason": ""})]
    assert "granted by local: plan abcdef012345" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("approve", "--plan-hash", HASH),
        ("reject", "--reason", "freeze"),
        ("cancel",),
        ("extend", "--calls", "1"),
    ],
    ids=lambda words: words[0],
)
def test_what_was_decided_is_json_for_programs(decided, capsys, words):
    verb, *options = words
    assert run("run", verb, "r7f3", *options, "--json") == 0
    assert json.loads(capsys.readouterr().out)["run_id"] == "r7f3"


def test_a_program_that_approves_names_the_plan_it_saw(decided, capsys):
    assert run("run", "approve", "r7f3", "--json") == 2
    assert "--plan-hash" in capsys.readouterr().err
    assert decided == []


@pytest.mark.parametrize(
    ("given", "code"), [("abc", 2), ("0" * 64, 3), (HASH + "0", 3)], ids=["short", "other", "long"]
)
def test_another_hash_approves_nothing(decided, given, code):
    assert run("run", "approve", "r7f3", "--plan-hash", given) == code
    assert decided == []


def test_without_a_terminal_the_hash_must_be_given(decided, capsys, monkeypatch):
    with Path("/dev/null").open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        assert run("run", "approve", "r7f3") == 2
    assert "--plan-hash abcdef012345" in capsys.readouterr().err
    assert decided == []


def test_a_rejection_needs_a_reason(decided, capsys):
    assert run("run", "reject", "r7f3") == 2
    assert run("run", "reject", "r7f3", "--reason", "freeze") == 0
    assert decided == [("reject", {"plan_hash": HASH, "reason": "freeze"})]


def test_a_refusal_says_who_was_first(decided, capsys):
    assert run("run", "reject", "r7f3", "--reason", "too late") == 3
    assert "already granted; by ann at 09:00" in capsys.readouterr().err


def test_a_run_can_be_cancelled(decided, capsys):
    assert run("run", "cancel", "r7f3", "--reason", "wrong cluster") == 0
    assert decided == [("cancel", {"reason": "wrong cluster"})]


def test_an_investigation_is_given_more_or_nothing(decided, capsys):
    assert run("run", "extend", "r7f3", "--calls", "10", "--money", "0.50") == 0
    assert run("run", "extend", "r7f3", "--end", "--reason", "enough") == 0
    (_, more), (_, nothing) = decided
    assert (more["granted"], more["amounts"]["model_calls"]) == (True, 10)
    assert more["amounts"]["money"] == "0.50"
    assert (nothing["granted"], nothing["reason"]) == (False, "enough")
    assert "r7f3" in capsys.readouterr().out


@pytest.mark.parametrize(
    "given",
    [(), ("--calls", "0"), ("--calls", "1", "--end"), ("--money", "x"), ("--money", "nan")],
    ids=["nothing", "none", "both", "no money", "no number"],
)
def test_an_answer_that_means_nothing_is_not_sent(decided, given):
    assert run("run", "extend", "r7f3", *given) == 2
    assert decided == []


def test_an_unknown_run_is_a_plain_failure(decided, capsys):
    assert run("run", "show", "r0") == 1
    assert capsys.readouterr().err == "tocsin: no such run; see tocsin run list\n"


def test_a_replay_without_a_store_says_how_to_name_one(capsys):
    assert run("replay", "r7f3") == 4
    said = capsys.readouterr().err
    assert "nothing runs in" in said
    assert "or name a run store with TOCSIN_REDIS_URL" in said


def test_an_eval_that_could_not_be_written_down_does_not_begin(tmp_path, capsys):
    (tmp_path / "cases").write_text("")
    assert run("eval", "cases", "--out", "nowhere/p.jsonl") == 1
    assert "cannot write 'nowhere/p.jsonl': there is no such folder" in capsys.readouterr().err


def test_nobody_there_is_said_in_one_line(capsys):
    assert run("run", "list") == 4
    assert run("run", "list", "--gateway-url", "http://127.0.0.1:9", "--token", "t") == 4
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_flags_come_before_the_environment_and_that_before_the_folder(decided, monkeypatch):
    monkeypatch.setenv("TOCSIN_GATEWAY_URL", "http://127.0.0.1:9")
    assert run("run", "list") == 4
    url = Workspace(Path(".tocsin")).up().gateway_url
    assert run("run", "list", "--gateway-url", url) == 0


def test_tokens_are_printed_for_scripts(capsys):
    Path(".tocsin").mkdir()
    assert run("token", "ingest") == 0
    assert capsys.readouterr().out.strip() == Workspace(Path(".tocsin")).tokens().ingest_token


def test_settings_are_pairs():
    assert up.settings(["A=b=c", "B="]) == {"A": "b=c", "B": ""}
    with pytest.raises(UsageError, match="KEY=VALUE"):
        up.settings(["=b"])


def test_unknown_commands_are_wrong_usage(capsys):
    assert run("dance") == 2
