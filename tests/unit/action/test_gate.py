"""How people are asked, and how a run ends when they say no, nothing, or are not needed."""

from datetime import timedelta

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_action.asking import TIERS, Asking
from tocsin_action.handlers import CLEARABLE
from tocsin_contracts import (
    OPEN_STATES,
    ApprovalExpired,
    ApprovalRequested,
    EndReason,
    PullRequestMerged,
    Risk,
    RunFinished,
    RunState,
)
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_kit.errors import TransientError
from tocsin_kit.moves import move
from tocsin_kit.topology import TimerKind
from tocsin_testing import build
from tocsin_testing.event_fields import REMARK
from tocsin_testing.fakes import outage

PATIENCE = timedelta(hours=4)


def approval(desk):
    (only,) = desk.approvals.approvals.values()
    return only


def ended(answer, outcome: RunState, reason: EndReason) -> str:
    assert isinstance(answer, RunFinished)
    assert (answer.outcome, answer.reason) == (outcome, reason)
    assert answer.sentence.endswith(".")
    return answer.sentence


async def test_a_plan_is_put_to_those_who_may_decide_for_a_limited_time(desk):
    plan = desk.plan()
    asked = await desk.ask(plan)
    assert isinstance(asked, ApprovalRequested)
    opened = approval(desk)
    assert (opened.state, opened.plan_hash) == (ApprovalState.PENDING, plan.plan_hash)
    assert opened.approvers == ("ana", "bo")
    assert (asked.approval_id, asked.plan) == (opened.id, plan)
    assert asked.expires_at == opened.expires_at == build.NOW + PATIENCE
    timer, half = desk.timers.set
    assert (timer.kind, timer.run_id) == (TimerKind.APPROVAL_EXPIRY, build.RUN)
    assert (timer.about, timer.due_at) == (plan.plan_hash, asked.expires_at)
    assert (half.kind, half.about) == (TimerKind.APPROVAL_REMINDER, plan.plan_hash)
    assert half.due_at == build.NOW + PATIENCE / 2
    assert desk.forge.asked == []


@pytest.mark.parametrize(
    ("risk", "needs", "slack"),
    [
        (Risk.LOW, "1 person", True),
        (Risk.MEDIUM, "1 person", True),
        (
            Risk.HIGH,
            "1 person by the command line or the console, or 2 people; "
            "a yes by Slack does not count",
            False,
        ),
    ],
)
async def test_p3_the_risk_decides_who_has_to_say_yes(desk, risk, needs, slack):
    asked = await desk.ask(desk.plan(risk=risk))
    assert asked.needs == needs
    assert approval(desk).quorum.takes("slack") is slack


@pytest.mark.parametrize(
    ("source", "instance", "askers"),
    [
        ("chat", "ana", ("ana",)),
        ("chat", "mallory", ()),
        ("chat", "", ()),
        ("alertmanager", "ana", ()),
    ],
)
async def test_p3_an_approver_who_asked_for_the_run_is_not_the_only_one(
    desk, source, instance, askers
):
    asked = await desk.ask(alert=build.alert(source=source, instance=instance))
    assert approval(desk).askers == askers
    told = "1 person, not only ana, who asked for it" if askers else "1 person"
    assert asked.needs == told


def test_an_operator_may_let_who_asked_decide_alone():
    asking = Asking(approvers=("ana",), patience=PATIENCE, self_approval=True)
    alert = build.alert(source="chat", instance="ana")
    assert asking.askers(alert, build.hypothesis()) == ()


def test_p3_who_asked_for_a_value_by_a_comment_is_not_the_only_one_who_approves_it():
    asking = Asking(approvers=("ana", REMARK.author), patience=PATIENCE)
    assert asking.askers(build.alert(), build.hypothesis(remark=REMARK)) == (REMARK.author,)


def test_p3_an_account_that_is_known_is_the_approver_behind_it():
    asking = Asking(("ana", "bo"), PATIENCE, accounts={REMARK.author: "ana"})
    assert asking.askers(build.alert(), build.hypothesis(remark=REMARK)) == ("ana",)
    assert asking.quorum(Risk.LOW, build.hypothesis(remark=REMARK)) == TIERS[Risk.LOW]


@pytest.mark.parametrize("risk", Risk)
def test_p3_who_is_behind_an_unknown_account_may_not_be_the_only_one_anywhere(risk):
    asking = Asking(("ana", "bo"), PATIENCE)
    needed = asking.quorum(risk, build.hypothesis(remark=REMARK))
    assert (needed.people, needed.alone) == (2, ())
    assert asking.quorum(risk, build.hypothesis()) == TIERS[risk]


async def test_a_question_says_that_changes_have_to_wait_and_whose_it_is(desk):
    opened = build.incident_opened(freeze="year end", team="payments")
    desk.runs.runs[build.RUN] = build.run(opened)
    desk.freezes.holds = "year end"
    asked = await desk.handlers().on_plan_drafted(build.plan_drafted(plan=desk.plan()))
    assert (asked.freeze, asked.team) == ("year end", "payments")


async def test_p5_asking_twice_is_one_approval_with_its_first_expiry(desk):
    first = await desk.ask()
    desk.clock.advance(600)
    for saver in (desk.saver, InMemorySaver()):
        desk.saver = saver
        again = await desk.ask()
        assert (again.approval_id, again.expires_at) == (first.approval_id, first.expires_at)
    assert len(desk.timers.set) == 2
    assert approval(desk).expires_at == first.expires_at


@pytest.mark.parametrize("part", ["approvals", "timers"])
async def test_nobody_is_asked_before_the_approval_and_its_timer_are_stored(desk, part):
    getattr(desk, part).down = outage()
    with pytest.raises(TransientError):
        await desk.ask()
    getattr(desk, part).down = None
    assert isinstance(await desk.ask(), ApprovalRequested)
    assert len(desk.timers.set) == 2


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("not tonight", "ana said no: not tonight. "),
        ("", "ana said no: no reason given. "),
        ("two\nlines\x1b[31m", "ana said no: two lines. "),
    ],
)
async def test_a_no_ends_the_run_with_who_why_and_until_when_it_holds(desk, reason, said):
    denied = build.approval_denied(decision=build.decision(reason=reason))
    answer = await desk.handlers().on_approval_denied(denied)
    until = denied.decision.decided_at + timedelta(hours=24)
    holds = f"Nothing is proposed for this issue before {until:%Y-%m-%d %H:%M} UTC."
    assert ended(answer, RunState.REJECTED, EndReason.DENIED_BY_APPROVER) == said + holds
    assert answer.reopens_at == until


async def due(desk, seconds):
    await desk.ask()
    desk.clock.advance(seconds)
    return await desk.handlers().on_approval_due(desk.timers.set[0])


async def test_an_approval_that_nobody_decided_expires_and_ends_the_run(desk):
    expired, finished = await due(desk, PATIENCE.total_seconds())
    assert isinstance(expired, ApprovalExpired)
    assert (expired.approval_id, expired.plan_hash) == (approval(desk).id, approval(desk).plan_hash)
    sentence = ended(finished, RunState.EXPIRED, EndReason.APPROVAL_EXPIRED)
    assert "nothing was written" in sentence
    assert approval(desk).state is ApprovalState.EXPIRED


async def test_a_timer_that_comes_early_is_tried_again_and_expires_nothing(desk):
    with pytest.raises(TransientError, match="not due yet"):
        await due(desk, PATIENCE.total_seconds() - 1)
    assert approval(desk).state is ApprovalState.PENDING
    desk.clock.advance(1)
    expired, _ = await desk.handlers().on_approval_due(desk.timers.set[0])
    assert isinstance(expired, ApprovalExpired)


@pytest.mark.parametrize("answer", DecisionKind)
async def test_a_timer_that_comes_after_the_decision_does_nothing(desk, answer):
    await desk.say(await desk.ask(), answer)
    desk.clock.advance(PATIENCE.total_seconds() + 1)
    assert await desk.handlers().on_approval_due(desk.timers.set[0]) == []
    assert approval(desk).state.value == answer.value


async def test_a_timer_of_an_approval_that_is_gone_does_nothing(desk):
    await desk.ask()
    desk.approvals.approvals.clear()
    desk.clock.advance(PATIENCE.total_seconds())
    assert await desk.handlers().on_approval_due(desk.timers.set[0]) == []


async def test_a_yes_after_the_expiry_is_no_yes(desk):
    asked = await desk.ask()
    desk.clock.advance(PATIENCE.total_seconds())
    granted = await desk.say(asked)
    await desk.handlers().on_approval_due(desk.timers.set[0])
    answer = await desk.handlers().on_approval_granted(granted)
    assert answer.why == "the approval is expired"
    assert desk.forge.asked == []


async def cleared(desk, still_firing=0):
    return await desk.handlers().on_alert_resolved(build.alert_resolved(still_firing=still_firing))


async def test_alerts_that_clear_while_people_think_withdraw_the_approval(desk):
    await desk.ask()
    sentence = ended(await cleared(desk), RunState.NO_CHANGE, EndReason.ALERT_CLEARED)
    assert sentence == "The alerts cleared before anything was changed."
    assert approval(desk).state is ApprovalState.WITHDRAWN


async def test_an_alert_that_clears_while_others_fire_changes_nothing(desk):
    await desk.ask()
    assert await cleared(desk, still_firing=1) is None
    assert approval(desk).state is ApprovalState.PENDING


async def test_p4_alerts_that_clear_after_the_yes_wait_for_the_pull_request(desk):
    granted = await desk.approved()
    with pytest.raises(TransientError, match="said yes just before"):
        await cleared(desk)
    await desk.handlers().on_approval_granted(granted)
    assert len(desk.pulls) == 1


async def test_an_old_clearing_does_not_end_a_run_whose_alert_fires_again(desk):
    await desk.ask()
    again = build.alert_repeated(at=build.NOW + timedelta(hours=1))
    desk.stands(RunState.AWAITING_APPROVAL, build.plan_drafted(plan=desk.plan()), again)
    assert await cleared(desk) is None
    assert approval(desk).state is ApprovalState.PENDING


async def test_a_stopped_run_says_which_pull_request_it_leaves_open(desk):
    opened = build.pull_request_opened()
    desk.stands(RunState.PR_OPEN, build.plan_drafted(), opened)
    stopped = await desk.handlers().on_run_cancel_requested(build.run_cancel_requested())
    assert opened.url in stopped.sentence


async def test_a_run_that_is_stopped_while_it_is_written_says_where_to_look(desk):
    drafted = build.plan_drafted()
    desk.stands(RunState.APPLYING, drafted)
    stopped = await desk.handlers().on_run_cancel_requested(build.run_cancel_requested())
    assert drafted.plan.head_branch in stopped.sentence


@pytest.mark.parametrize("state", [RunState.PR_OPEN, RunState.PR_MERGED])
async def test_alerts_that_clear_with_a_pull_request_end_nothing_it_is_followed_on(desk, state):
    desk.stands(state, build.plan_drafted(), build.pull_request_opened())
    assert await cleared(desk) is None


@pytest.mark.parametrize("state", [RunState.RECEIVED, RunState.INVESTIGATING, RunState.VALIDATING])
async def test_alerts_that_clear_before_there_is_a_plan_end_the_run_at_once(desk, state):
    desk.stands(state)
    ended(await cleared(desk), RunState.NO_CHANGE, EndReason.ALERT_CLEARED)
    assert {*move(*CLEARABLE).starts, *move(*CLEARABLE).earlier} == set(OPEN_STATES)
    assert RunState.APPLYING in move(*CLEARABLE).earlier, "half a write helps nobody"


async def test_alerts_that_clear_while_an_undo_waits_withdraw_it_and_leave_the_fix(desk):
    await desk.ask()
    desk.runs.runs[build.RUN].facts[PullRequestMerged.topic] = build.pull_request_merged()
    sentence = ended(await cleared(desk), RunState.RESOLVED, EndReason.ALERT_CLEARED)
    assert "its undo was not needed" in sentence
    assert approval(desk).state is ApprovalState.WITHDRAWN


async def test_p1_a_run_whose_record_is_still_to_be_made_is_waited_for_but_not_for_ever(desk):
    desk.runs.runs[build.RUN] = build.run(state=RunState.RECEIVED)
    with pytest.raises(TransientError, match="not made yet"):
        await cleared(desk)
    desk.clock.advance(3600)
    assert await cleared(desk) is None


async def test_an_alert_of_a_run_that_is_not_known_changes_nothing(desk):
    assert await cleared(desk) is None


@pytest.mark.parametrize(
    ("reason", "said"), [("a drill", "ana stopped the run: a drill."), ("", "ana stopped the run.")]
)
async def test_a_cancelled_run_says_who_and_withdraws_the_approval(desk, reason, said):
    await desk.ask()
    answer = await desk.handlers().on_run_cancel_requested(
        build.run_cancel_requested(reason=reason)
    )
    assert ended(answer, RunState.CANCELLED, EndReason.CANCELLED_BY_USER) == said
    assert approval(desk).state is ApprovalState.WITHDRAWN


async def test_a_run_can_be_cancelled_before_there_is_a_plan(desk):
    desk.stands(RunState.INVESTIGATING, build.incident_opened())
    answer = await desk.handlers().on_run_cancel_requested(build.run_cancel_requested())
    ended(answer, RunState.CANCELLED, EndReason.CANCELLED_BY_USER)
    assert desk.approvals.approvals == {}


async def test_p4_a_run_whose_approval_was_taken_back_ends_though_its_alert_fires_again(desk):
    """A worker died between the two: nobody can decide any more, so nobody is waited for."""
    asked = await desk.ask()
    await desk.approvals.withdraw(build.RUN, asked.plan.plan_hash)
    again = build.alert_repeated(at=build.NOW + timedelta(hours=1))
    desk.stands(RunState.AWAITING_APPROVAL, build.plan_drafted(plan=asked.plan), again)
    finished = await cleared(desk)
    ended(finished, RunState.NO_CHANGE, EndReason.ALERT_CLEARED)
    assert finished.reopens_at == desk.clock.now(), "what fires is a new run's"


async def test_p5_the_end_of_patience_with_an_older_plan_ends_no_newer_one(desk):
    await desk.ask()
    newer = build.approval_requested(plan=desk.plan("512Mi"))
    desk.stands(RunState.AWAITING_APPROVAL, newer)
    desk.clock.advance(PATIENCE.total_seconds())
    assert await desk.handlers().on_approval_due(desk.timers.set[0]) == []
