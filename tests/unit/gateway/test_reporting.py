"""The report of an incident: everything that is known, and nothing of others rendered."""

import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts import AlertStatus, CauseClass, Rejection, Severity
from tocsin_contracts.views import MemberView
from tocsin_gateway import views
from tocsin_gateway.markdown import block, code, link, words
from tocsin_gateway.reporting import markdown
from tocsin_testing import build
from tocsin_testing.build import NOW

HOSTILE = "<script>x</script> [click](https://evil.example) @team #12 `rm` | **bold** ![i](//e)"


def report(*facts, approval=None, **changes):
    return markdown(views.detail(build.run(build.alert_accepted(), *facts, **changes), approval))


def test_a_report_tells_what_happened_why_what_was_decided_and_what_came_of_it():
    rejection = Rejection(cause=next(iter(CauseClass)), reasons=("the image is there",))
    hypothesis = build.hypothesis(rejections=(rejection,))
    decision = build.decision(reason="looks right")
    told = report(
        build.hypothesis_formed(hypothesis=hypothesis),
        build.plan_drafted(at=NOW + timedelta(minutes=1)),
        build.pull_request_opened(url="https://forge.example/1"),
        build.run_finished(),
        approval=build.approval(decisions=(decision,)),
    )
    headings = re.findall(r"^## (.*)$", told, re.M)
    assert headings == [
        "What happened",
        "Timeline",
        "Cause",
        "What was ruled out",
        "Checks",
        "Decision",
        "Change",
        "Outcome",
        "Cost",
    ]
    assert "the image is there" in told
    assert "looks right" in told
    assert build.plan().diff.strip() in told
    assert "<https://forge.example/1>" in told
    assert "Nobody knows the cause." in told
    assert "No model was asked." in told


def test_a_report_names_every_alert_of_a_run_that_has_several():
    view = views.detail(build.run(build.alert_accepted()), None)
    fields = {"title": "Killed", "status": AlertStatus.FIRING, "severity": Severity.CRITICAL}
    members = tuple(
        MemberView(**fields, last_seen=NOW, fingerprint=pod, differs=f"pod {pod}") for pod in "ab"
    )
    told = markdown(view.model_copy(update={"members": members}))
    assert "(firing) pod a" in told
    assert "(firing) pod b" in told


def test_a_report_of_a_run_that_has_just_begun_says_so():
    told = report()
    assert "The run goes on: it is received." in told
    assert "## Decision\n\nNothing." in told


def test_what_had_no_room_is_counted():
    assert "7 older entries are left out." in report(forgotten=7)


@pytest.mark.parametrize("sign", ["<script", "[click]", "@team", "#12", "`rm`", " **bold", "![i]"])
def test_markup_of_others_stands_as_text(sign):
    alert = build.alert(title=HOSTILE, summary=HOSTILE)
    told = markdown(views.detail(build.run(build.alert_accepted(alert=alert)), None))
    assert sign not in told


def test_addresses_of_others_are_no_links_and_ours_are():
    assert "https:" not in words("see https://evil.example")
    assert link("https://forge.example/1") == "<https://forge.example/1>"
    assert link("javascript:alert(1)") == "`javascript:alert(1)`"
    assert link("https://x.example/> [a](b)") == "`https://x.example/> [a](b)`"


@given(st.text(alphabet="`ab\n~ ", max_size=60))
@settings(max_examples=60)
def test_no_block_closes_its_own_fence(text):
    first, *lines, last = block(text).split("\n")
    fence = first.removesuffix("text")
    assert last == fence
    assert not any(line.strip().startswith(fence) for line in lines)


@given(st.text(max_size=60))
@settings(max_examples=60)
def test_words_stay_on_one_line_and_hold_no_bare_mark(text):
    said = words(text)
    assert "\n" not in said
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]|~]", said)
    assert not {"<", ">"} & set(said)
    assert not re.match(r"\d*[.)#+\-=]", said)
    assert code(text).count("`") in (0, 2)
