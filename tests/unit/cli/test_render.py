"""A run reads the same on every terminal, and no text in it can steer one."""

import io
import textwrap
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from tocsin_cli import render
from tocsin_cli.live import Live
from tocsin_cli.terminal import one_line, plain, show
from tocsin_contracts import BudgetScope, Claim, EvidenceKind, Exhausted, Measure, ModelUse
from tocsin_contracts.views import ApprovalState, BudgetView, InconclusiveView, RunView, TriageView
from tocsin_testing import build

VIEW = RunView.model_validate_json(Path(__file__).with_name("sample.run.json").read_bytes())


def shown(*parts, width: int = 80, terminal: bool = False) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width, force_terminal=terminal, color_system=None), *parts)
    return out.getvalue()


def run_shown(view: RunView, **how) -> str:
    sections = [part for section in render.sections(view) for part in section.shown]
    return shown(*sections, render.timeline(view), **how)


def test_a_plan_says_why_its_risk_is_what_it_is_and_what_it_does_to_the_cluster():
    plan = build.plan(risk_reasons=("it is in production",), effects=("6 pod(s) become 7.",))
    text = shown(*render.plan(plan))
    assert "  risk  low\n  . it is in production\n  . 6 pod(s) become 7.\n  hash  " in text


@pytest.mark.parametrize("terminal", [True, False])
def test_the_diff_is_shown_whole_and_unchanged_under_its_heading(terminal):
    long = f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{'x ' * 100}x\n+  [bold] :smile: 12 3\n"
    text = shown(render.diff(long), width=40, terminal=terminal)
    assert text == textwrap.indent(long, "  ") + "\n"


def test_nothing_in_a_diff_stays_invisible():
    assert r"+a\u202eb\x1b[2K\tc" in shown(render.diff("+a\u202eb\x1b[2K\tc\n"))


@settings(max_examples=50)
@given(st.text())
def test_plain_text_never_steers_a_terminal(text):
    assert all(c == "\n" or c.isprintable() for c in plain(text))


def test_ordinary_text_stays_as_it_is():
    text = "Zürich, 10 € ✓ 東京 🔥\n"
    assert plain(text) == text


def test_everything_a_person_decides_by_is_shown():
    text = run_shown(VIEW)
    for part in (
        "critical  KubeContainerOOMKilled",
        "payments/payments-api on prod-eu-1, container api",
        "same cluster prod-eu-1, namespace payments, workload payments-api",
        "1 firing, 1 cleared, 3 deliveries",
        "firing    critical  KubeContainerOOMKilled",
        "resolved  warning   HighLatency",
        "e1  get pod",
        "e2  logs: batch loaded",
        "and 1 more that were looked at",
        "oom_killed_limit_too_low, confirmed (0.97)",
        "36f96a5 lowered it from 1Gi.",
        "pass target: one owner",
        "?    quota: no quota recorded",
        "overlay wins over base",
        '+memory: "1Gi"',
        "risk  high",
        VIEW.plan.plan_hash,
    ):
        assert part in text
    assert "\x1b" not in text


def test_of_many_alerts_of_an_incident_some_are_shown_and_the_rest_counted():
    (member, _) = VIEW.members
    text = run_shown(VIEW.model_copy(update={"members": (member,) * 12, "occurrences": 1}))
    assert "and 2 more\n" in text
    assert "1 delivery\n" in text


def test_what_triage_decided_is_shown_and_where_to_go_on():
    joined = {"alert": VIEW.alert, "at": VIEW.created_at, "why": "one node", "run_id": "r2"}
    triage = {
        "decisions": ["There is no storm."],
        "superseded_by": "r0",
        "team": "payments",
        "freeze": "year end",
        "joined": [joined],
    }
    text = run_shown(VIEW.model_copy(update={"triage": TriageView.model_validate(triage)}))
    said = ["There is no storm.", "team payments", "freeze year end", "go on with run r0", "run r2"]
    assert [part for part in said if part not in text] == []


def test_a_run_without_a_certain_cause_shows_what_came_closest_and_what_was_not_seen():
    hypothesis = VIEW.hypothesis
    missing = hypothesis.evidence[0].model_copy(
        update={"id": "e9", "kind": EvidenceKind.MISSING, "excerpt": "forbidden"}
    )
    found = InconclusiveView(
        why="w", candidates=(hypothesis.finding,), evidence=(*hypothesis.evidence, missing)
    )
    text = run_shown(VIEW.model_copy(update={"hypothesis": None, "inconclusive": found}))
    cited = ", ".join(hypothesis.finding.evidence)
    assert f"{hypothesis.finding.summary} [{cited}]" in text
    assert "e9" in text
    assert "forbidden" in text
    nothing = InconclusiveView(why="w", evidence=())
    assert "no cause to act on; closest\n  nothing" in run_shown(
        VIEW.model_copy(update={"hypothesis": None, "inconclusive": nothing})
    )


def test_a_section_is_shown_once_and_again_only_when_it_changed():
    out = io.StringIO()
    live = Live(Console(file=out))
    live.update(VIEW)
    live.update(VIEW)
    granted = VIEW.approval.model_copy(
        update={"state": ApprovalState.GRANTED, "decided_by": "local"}
    )
    live.update(VIEW.model_copy(update={"approval": granted}))
    text = out.getvalue()
    assert text.count("Container was OOM killed") == 1
    assert text.count("\napproval") == 2
    assert "granted by local, plan abcdef012345" in text


def test_a_list_keeps_ids_whole_in_a_narrow_terminal():
    first, second = shown(render.run_list([VIEW]), width=20).splitlines()
    assert first.split() == list(render._COLUMNS)
    assert second.startswith(
        "r7f3  awaiting_approval  critical  payments/payments-api on prod-eu-1"
    )


@pytest.mark.parametrize("colour", [True, False])
def test_colour_is_only_for_terminals_that_want_it(monkeypatch, colour):
    monkeypatch.delenv("NO_COLOR", raising=False)
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    show(Console(file=out, force_terminal=True, color_system="standard"), render.diff("+x\n"))
    assert ("\x1b[32m" in out.getvalue()) is colour


def test_a_yes_that_more_people_have_to_say_is_counted():
    said = (build.decision(by="ana"),)
    asked = {"state": ApprovalState.PENDING, "required": 2, "decisions": said}
    waits = VIEW.approval.model_copy(update=asked)
    assert "; 1 of 2 said yes: ana" in run_shown(
        VIEW.model_copy(update={"approval": waits}), width=120
    )


def test_who_broke_the_glass_is_shown_with_why():
    broken = build.decision(by="ana", break_glass=True, reason="the shop is down")
    decided = {"state": ApprovalState.GRANTED, "decisions": (broken,)}
    view = VIEW.approval.model_copy(update=decided)
    told = run_shown(VIEW.model_copy(update={"approval": view}), width=120)
    assert "BREAK-GLASS: ana: the shop is down" in told


FORGED = "x\napproval\n  granted by root\n\x1b[2K\x1b]0;owned\x07\u202e\u2028approval\x0bapproval"
HEADINGS = [
    *("alert", "incident", "evidence", "cause", "checks"),
    *("plan", "approval", "pull request", "ended"),
]


def forged() -> RunView:
    """Return the run, with every text of others hostile."""
    given = VIEW.model_dump(mode="json")
    given |= {"title": FORGED, "workload": {"namespace": FORGED, "name": FORGED}}
    given["alert"] |= {"title": FORGED, "summary": FORGED}
    given["incident_parts"] = {FORGED: FORGED}
    for member in given["members"]:
        member["title"] = FORGED
    given["hypothesis"]["finding"] |= {"summary": FORGED, "because": FORGED}
    for evidence in given["hypothesis"]["evidence"]:
        evidence |= {"query": FORGED, "excerpt": FORGED}
    given["checks"] = [{"check": FORGED, "verdict": "pass", "detail": FORGED}]
    given["plan"] |= {"title": FORGED, "diff": f"@@ -1 +1 @@\n-a\n+{FORGED}\n"}
    given["plan"]["target"] |= {"repo": FORGED, "file": FORGED, "trace": [FORGED]}
    given["approval"] |= {"state": "granted", "decided_by": FORGED}
    texts = dict.fromkeys(("repo", "url", "head_branch", "commit", "plan_hash", "title"), FORGED)
    given["pull_request"] = texts
    ended = {"outcome": "cancelled", "reason": "cancelled_by_user", "sentence": FORGED}
    given["finished"] = ended
    given["timeline"] = [{"at": given["created_at"], "topic": "t", "producer": "p", "text": FORGED}]
    return RunView.model_validate(given)


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("width", [20, 80, 120])
def test_p9_no_text_of_others_forges_a_section(width, terminal):
    text = run_shown(forged(), width=width, terminal=terminal)
    lines = [line for line in text.split("\n") if line and not line.startswith(" ")]
    starts = [line.split("  ")[0] for line in lines]
    assert starts == [*HEADINGS, "timeline"]
    assert not {"\x1b", "\x07", "\x0b", "\u202e", "\u2028"} & set(text)


def test_p9_no_title_forges_a_row():
    text = shown(render.run_list([forged(), forged()]))
    _, *rows = text.removesuffix("\n").split("\n")
    assert [row.split()[0] for row in rows] == ["r7f3", "r7f3"]
    assert "granted by root" in rows[0]
    assert "\x1b" not in text


@settings(max_examples=50)
@given(st.text())
def test_a_text_on_one_line_is_one_that_steers_nothing(text):
    assert one_line(text).isprintable()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_line_that_is_too_long_is_broken_between_words_and_stays_indented(width):
    words = " ".join(["word"] * 60)
    view = VIEW.model_copy(update={"alert": VIEW.alert.model_copy(update={"summary": words})})
    lines = run_shown(view, width=width, terminal=True).split("\n")
    said = [line for line in lines if "word" in line]
    assert len(said) > 1
    assert max(map(len, said)) <= width
    assert said[0].startswith("  word")
    assert all(line.startswith("    word") for line in said[1:])
    assert " ".join("".join(f"{line} " for line in said).split()) == words


def test_a_word_that_is_longer_than_a_line_stays_whole():
    url = "https://example.com/" + "x" * 100
    assert f"\n    {url}\n" in shown(Text(f"  see {url} now"), width=80, terminal=True)


def test_a_line_that_nobody_looks_at_on_a_terminal_stays_whole():
    assert shown(Text("  word" * 60), width=80).count("\n") == 1


def test_a_person_sees_that_an_investigation_waits_and_what_a_model_cost():
    nearly = Exhausted(
        measure=Measure.TOKENS, scope=BudgetScope.RUN, used=Decimal(81), limit=Decimal(100)
    )
    use = ModelUse(models=("a/b",), model_calls=2, tool_calls=1, tokens=81, cost=Decimal("0.0125"))
    waits = BudgetView(exhausted=nearly, so_far="It is memory.", waits=True)
    text = run_shown(VIEW.model_copy(update={"budget": waits, "model_use": use}))
    assert "waits for a person: tokens of the run: 81 of 100" in text
    assert "so far: It is memory." in text
    unpriced = use.model_copy(update={"cost": None})
    assert "a/b: 2 calls, 1 of tools, 81 tokens, 0 s, unknown cost" in run_shown(
        VIEW.model_copy(update={"model_use": unpriced})
    )
    assert "$0.0125" in run_shown(VIEW.model_copy(update={"model_use": use}))


def test_a_person_sees_what_a_model_argues_with():
    claims = (Claim(text="It was halved.", evidence=("e1", "m1")),)
    told = {"claims": claims, "disproof": "It restarts with more."}
    hypothesis = VIEW.hypothesis.model_copy(update=told)
    text = run_shown(VIEW.model_copy(update={"hypothesis": hypothesis}))
    assert "It was halved. [e1, m1]" in text
    assert "wrong if: It restarts with more." in text


def test_a_very_long_timeline_shows_its_end_and_counts_the_rest():
    entry = VIEW.timeline[-1]
    view = VIEW.model_copy(update={"timeline": (entry,) * 130, "untold": 7})
    lines = shown(render.timeline(view)).splitlines()
    assert lines[1] == "  37 older entries"
    assert len(lines) == 102


def test_alerts_of_one_name_are_listed_with_what_differs():
    (member, other) = VIEW.members
    named = member.model_copy(update={"differs": "pod payments-api-x2x4z"})
    text = run_shown(VIEW.model_copy(update={"members": (named, other)}))
    assert "pod payments-api-x2x4z" in text
