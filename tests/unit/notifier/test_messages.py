"""What people read: the exact change, what they can do about it, and no secret."""

import pytest

from tocsin_contracts import EVENTS, CheckVerdict, EndReason, RunState
from tocsin_contracts.chat import ChatAnswered
from tocsin_contracts.diagnosis import Amendment, Rejection
from tocsin_kit.topology import READS
from tocsin_notifier import app, messages
from tocsin_testing import build

TOLD = pytest.mark.parametrize("event_type", app.TOLD, ids=lambda event: event.topic)


def rendered(event):
    return messages.render(event)


def test_the_notifier_tells_of_every_event_it_reads():
    read = {event for service, event in READS if service == "notifier"}
    assert {*app.TOLD, *app.FOLLOWED, ChatAnswered} == read


@TOLD
def test_every_event_that_is_told_becomes_a_message_of_its_run(event_type):
    event = build.event(event_type)
    message = rendered(event)
    assert (message.id, message.run_id) == (event.id, event.run_id)
    assert message.title
    assert message.text


@pytest.mark.parametrize(
    "event_type", [e for e in EVENTS if e not in app.TOLD], ids=lambda event: event.topic
)
def test_an_event_that_people_need_not_hear_of_becomes_none(event_type):
    assert rendered(build.event(event_type)) is None


@TOLD
def test_a_message_says_which_alert_it_is_about_and_where_for_a_reader_may_see_no_other(event_type):
    message = messages.render(build.event(event_type), build.run(build.alert_accepted()))
    about = message.text.split("\n")[0]
    assert about.startswith("About critical KubeContainerOOMKilled, payments/payments-api")


def test_p3_a_question_shows_the_exact_change_and_what_it_binds():
    event = build.approval_requested()
    text = rendered(event).text
    assert event.plan.diff.rstrip() in text
    assert f"Plan {event.plan.short_hash}, decide before 2026-03-02 14:00 UTC." in text
    assert "Repository shop/platform-gitops, file apps/payments-api" in text
    assert "risk low" in text
    assert f"tocsin run approve {event.run_id}" in text
    assert f"tocsin run reject {event.run_id}" in text


def test_a_question_says_how_sure_it_is_and_how_many_checks_passed():
    checks = (build.check(), build.check(verdict=CheckVerdict.UNKNOWN))
    text = rendered(build.approval_requested(plan=build.plan(checks=checks))).text
    assert "Confidence 95%, 1 of 2 checks passed." in text


def test_a_long_diff_is_cut_at_a_line_and_says_how_much_is_missing():
    lines = [f"+line {number:04}" for number in range(1000)]
    diff = "\n".join(lines) + "\n"
    text = rendered(build.approval_requested(plan=build.plan(diff=diff))).text
    shown = [line for line in text.splitlines() if line.startswith("+line")]
    assert shown == lines[: len(shown)]
    assert f"… {1000 - len(shown)} more lines" in text
    assert len(text) < messages.DIFF_LIMIT + 1000


def test_p6_a_secret_beside_the_change_is_not_shown_in_a_channel():
    secret = "ghp_" + "a1B2" * 9
    diff = f"@@ -1 +1 @@\n token: {secret}\n-a: 1\n+a: 2\n"
    text = rendered(build.approval_requested(plan=build.plan(diff=diff))).text
    assert secret not in text
    assert "+a: 2" in text


def test_a_diff_of_exactly_the_limit_is_whole():
    diff = "+" * (messages.DIFF_LIMIT - 1) + "\n"
    text = rendered(build.approval_requested(plan=build.plan(diff=diff))).text
    assert diff.rstrip() in text
    assert "more lines" not in text


@pytest.mark.parametrize("diff", ["+```\n+Approved by ana\n", "+a ``` b\n"])
def test_p9_a_diff_cannot_close_the_box_it_is_shown_in(diff):
    text = rendered(build.approval_requested(plan=build.plan(diff=diff))).text
    assert text.count("```") == 2


def test_a_decision_names_who_what_when_and_why():
    granted = rendered(build.approval_granted())
    assert granted.title == "Approved by ana"
    assert granted.text == f"Plan {build.plan().short_hash}, 10:00:00 UTC."
    denied = rendered(build.approval_denied())
    assert denied.title == "Rejected by ana"
    assert denied.text.endswith("Reason: not today")


def test_a_broken_glass_is_told_before_anything_else():
    broken = build.decision(break_glass=True, reason="the shop is down")
    told = rendered(build.approval_granted(decision=broken))
    assert told.title == "BREAK-GLASS: ana approved alone, past the rules of who has to"
    assert told.text.endswith("Reason: the shop is down")


def test_a_question_says_who_owns_the_files_and_who_changed_what():
    amended = Amendment(by="bo", plan_hash="1" * 64, changes=("memory: 1 -> 2",))
    event = build.approval_requested(
        owners="a.yaml: @shop/apps (ana)", hypothesis=build.hypothesis(amendments=(amended,))
    )
    text = rendered(event).text
    assert "Owners: a.yaml: @shop/apps (ana)." in text
    assert "bo changed memory: 1 -> 2." in text


def test_a_pull_request_is_its_address():
    event = build.pull_request_opened()
    assert rendered(event).title == f"Pull request opened: {event.title}"
    assert rendered(event).text == event.url


def test_what_needs_a_person_comes_with_all_that_was_seen():
    text = rendered(build.run_escalated(seen=("two pods restart", "no commit"))).text
    assert text.splitlines() == [
        "Nobody knows the cause.",
        "Seen: two pods restart",
        "Seen: no commit",
    ]


def test_of_much_that_was_seen_the_first_lines_are_told_and_the_rest_is_counted():
    seen = [f"line {number}" for number in range(12)]
    told = rendered(build.run_escalated(seen=tuple(seen))).text.splitlines()
    assert told[1:] == [*(f"Seen: {line}" for line in seen[:10]), "… 2 more"]
    told = rendered(build.run_escalated(seen=tuple(seen[:10]))).text.splitlines()
    assert told[-1] == "Seen: line 9"


def test_who_takes_over_is_told_what_was_thought_what_was_ruled_out_and_what_failed():
    likely = build.finding(summary="Killed at its limit.", confidence=0.8)
    other = build.finding(summary="A bad image.", confidence=0.3)
    failed = build.check(verdict=CheckVerdict.FAIL, detail="no such field", action="Look at it.")
    rejection = Rejection(cause=other.cause, reasons=("it starts elsewhere",))
    run = build.run(
        build.hypothesis_formed(hypothesis=build.hypothesis(finding=likely, alternatives=(other,))),
        build.hypothesis_rejected(rejections=(rejection,)),
    )
    ended = build.run_escalated(checks=(build.check(), failed), seen=("no commit",))
    assert messages.render(ended, run).text.splitlines() == [
        "Nobody knows the cause.",
        "Cause, 80% sure: Killed at its limit.",
        "Cause, 30% sure: A bad image.",
        f"Ruled out: {other.cause.value}, it starts elsewhere",
        f"Check {failed.check}: fail, no such field Look at it.",
        "Seen: no commit",
    ]


def test_who_takes_over_is_told_the_candidates_of_the_newest_look():
    formed = build.hypothesis_formed()
    later = formed.at.replace(minute=30)
    guess = build.finding(summary="Perhaps the disk.", confidence=0.2)
    vague = build.investigation_inconclusive(candidates=(guess,), at=later)
    ended = build.run_finished(outcome=RunState.ESCALATED, producer="action")
    told = messages.render(ended, build.run(formed, vague)).text
    assert "Cause, 20% sure: Perhaps the disk." in told
    assert told.count("Cause, ") == 1


def test_a_check_of_the_plan_that_failed_is_told_when_action_gives_up():
    failed = build.check(verdict=CheckVerdict.UNKNOWN, detail="nobody looked")
    drafted = build.plan_drafted(plan=build.plan(checks=(failed,)))
    ended = build.run_finished(outcome=RunState.ESCALATED, producer="action")
    assert "unknown, nobody looked" in messages.render(ended, build.run(drafted)).text


ENDS = [s for s in RunState if s.terminal and s not in ("suppressed", "superseded")]


@pytest.mark.parametrize("state", ENDS)
def test_p4_the_end_of_a_run_is_told_with_its_sentence(state):
    message = rendered(build.run_finished(outcome=state))
    assert message.title == f"Run ended: {state.value.replace('_', ' ')}"
    assert message.text == "Nobody knows the cause."


def test_nobody_hears_of_a_run_that_a_rule_suppressed():
    assert rendered(build.run_finished(outcome=RunState.SUPPRESSED)) is None


def test_nobody_hears_of_a_run_that_another_one_looks_after():
    assert messages.render(build.run_finished(outcome=RunState.SUPERSEDED)) is None


def test_in_a_storm_people_hear_of_it_and_not_of_each_run():
    assert messages.render(build.incident_opened(storm="r1")) is None
    assert messages.render(build.storm_started(new_runs=101)).title == "Storm: 101 new runs"
    over = messages.render(build.storm_ended(more_roots=2))
    assert over.title == "Storm over: 300 runs"
    assert over.text.splitlines() == [
        "It began at 2026-03-02 09:55 UTC.",
        "- node n1: 300 runs, see r1",
        "… 2 more",
    ]


def test_a_message_says_whose_an_incident_is():
    told = messages.render(build.incident_opened(team="payments", environment="prod"))
    assert "Team payments, environment prod." in told.text


def test_a_question_says_that_changes_have_to_wait():
    freeze = "change freeze 'year end' holds until 2026-01-02T00:00:00+01:00"
    asked = messages.render(build.approval_requested(freeze=freeze, team="payments"))
    assert f"Changes have to wait: {freeze}." in asked.text
    assert "Team payments." in asked.text


def test_a_run_that_was_handed_over_is_told_once_with_all_that_was_seen():
    ended = {"outcome": RunState.ESCALATED, "producer": "validation"}
    assert rendered(build.run_finished(**ended)) is None
    assert rendered(build.run_escalated(producer="validation")) is not None


def test_p7_a_run_that_no_longer_could_be_written_is_told_by_its_end():
    ended = build.run_finished(outcome=RunState.ESCALATED, producer="action")
    assert rendered(ended).title == "Run ended: escalated"


@TOLD
def test_p6_no_message_holds_anything_that_could_decide(event_type):
    message = rendered(build.event(event_type))
    assert "nonce" not in message.text.lower()
    assert "token" not in message.text.lower()
    assert build.plan().plan_hash not in message.title + message.text


def test_p9_a_title_that_others_wrote_stays_on_one_line():
    hostile = build.alert(title="A\n*Approved by ana*\u202e", summary="x\n\ny")
    message = rendered(build.incident_opened(alert=hostile))
    assert "\n" not in message.title
    assert "\u202e" not in message.title
    assert message.text == "x y"


HOSTILE = "a\n```\nApproved by ana\n\u202e- b ``\u200b` c"


def hostile_events():
    alert = build.alert(title=HOSTILE, summary=HOSTILE)
    hypothesis = build.hypothesis(finding=build.finding(summary=HOSTILE))
    target = build.target(file=HOSTILE)
    plan = build.plan(title=HOSTILE, target=target)
    decision = build.decision(reason=HOSTILE)
    return [
        build.incident_opened(alert=alert),
        build.approval_requested(alert=alert, hypothesis=hypothesis, plan=plan),
        build.approval_granted(decision=decision),
        build.approval_denied(decision=decision),
        build.pull_request_opened(title=HOSTILE, url=HOSTILE),
        build.run_escalated(alert=alert, sentence=HOSTILE, seen=(HOSTILE, HOSTILE)),
        build.run_finished(sentence=HOSTILE),
    ]


@pytest.mark.parametrize("event", hostile_events(), ids=lambda event: event.topic)
def test_p9_no_text_of_others_forges_a_line_or_opens_a_box(event):
    message = rendered(event)
    ours = rendered(build.event(type(event)))
    assert "\n" not in message.title
    assert "\u202e" not in message.title + message.text
    assert message.text.count("```") == ours.text.count("```")
    assert "```" not in message.title
    lines = message.text.splitlines()
    assert [line for line in lines if line.startswith(("Approved", "- b"))] == []


def test_p9_a_sentence_has_an_end():
    text = rendered(build.run_escalated(sentence="x" * 9999, seen=("y" * 9999,))).text
    assert len(text) < 1500


@pytest.mark.parametrize(
    ("event", "title", "text"),
    [
        (build.pull_request_updated(), "Commit added to a pull request", "local://"),
        (build.pull_request_found(), "A pull request is open already", "it holds the change"),
        (build.pull_request_merged(), "Merged: the alerts are watched", "local://"),
        (build.fix_ineffective(), "The fix did not help", "it needs a yes"),
    ],
    ids=["updated", "found", "merged", "ineffective"],
)
def test_what_becomes_of_a_pull_request_is_told(event, title, text):
    message = messages.render(event)
    assert message.title.startswith(title)
    assert text in message.text


def test_a_run_that_a_persons_no_held_back_is_told_with_its_date():
    ended = build.run_finished(
        outcome=RunState.SUPPRESSED,
        reason=EndReason.CLOSED_BY_PERSON,
        sentence="Nothing before tomorrow.",
    )
    assert messages.render(ended).text == "Nothing before tomorrow."
