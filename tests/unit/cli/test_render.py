"""A run reads the same on every terminal, and no text in it can steer one."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tocsin_cli import render
from tocsin_cli.live import Live
from tocsin_cli.terminal import plain, show
from tocsin_contracts.views import ApprovalState, RunView

VIEW = RunView.model_validate_json(Path(__file__).with_name("sample.run.json").read_bytes())


def shown(*parts, width: int = 80) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width), *parts)
    return out.getvalue()


def test_the_diff_is_shown_whole_and_unchanged():
    long = f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{'x' * 200}\n+  [bold] :smile: 12 3\n"
    assert shown(render.diff(long), width=40) == long + "\n"


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
    text = shown(*(section.text for section in render.sections(VIEW)))
    for part in (
        "critical  KubeContainerOOMKilled",
        "payments/payments-api on prod-eu-1, container api",
        "e1   get pod",
        r"e2   logs: \x1b]0;owned\x07 batch loaded",
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
    assert text.count("KubeContainerOOMKilled") == 1
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
