"""A person takes a run over: it ends with everything known, unless somebody said yes before."""

import pytest

from tocsin_action.taking_over import TakingOver
from tocsin_contracts import EndReason, RunEscalated, RunFinished, RunState
from tocsin_contracts.views import ApprovalState
from tocsin_kit.errors import TransientError
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakeClock, FakeRuns
from tocsin_testing.gate import FakeGate

ASKED = build.run_escalation_requested(reason="we look\nourselves")
PLAN = build.plan().plan_hash


def taking_over(*facts):
    approvals = FakeGate(FakeClock(), build.approval())
    return TakingOver(approvals, FakeRuns(build.run(*facts))), approvals


async def test_a_waiting_plan_is_withdrawn_and_all_that_is_known_goes_to_the_person():
    facts = (build.alert_accepted(), build.hypothesis_formed(), build.plan_drafted())
    handler, approvals = taking_over(*facts, build.approval_requested())
    escalated, finished = await handler.on_run_escalation_requested(ASKED)
    assert approvals.approvals[RUN, PLAN].state is ApprovalState.WITHDRAWN
    assert isinstance(escalated, RunEscalated)
    assert isinstance(finished, RunFinished)
    assert (finished.outcome, finished.reason) == (RunState.ESCALATED, EndReason.TAKEN_OVER)
    assert escalated.sentence == "ana took the run over: we look ourselves."
    assert build.hypothesis().finding.summary in " ".join(escalated.seen)
    assert escalated.checks == build.plan().checks


async def test_a_run_that_has_just_begun_is_taken_over_with_little_to_tell():
    handler, _ = taking_over(build.alert_accepted())
    escalated, _ = await handler.on_run_escalation_requested(ASKED)
    assert (escalated.seen, escalated.checks) == ((), ())


async def test_what_was_found_without_a_cause_is_told():
    handler, _ = taking_over(build.alert_accepted(), build.investigation_inconclusive())
    escalated, _ = await handler.on_run_escalation_requested(ASKED)
    assert escalated.seen[0].startswith("no cause to act on: ")


async def test_a_yes_that_came_first_is_carried_out():
    handler, approvals = taking_over(build.alert_accepted(), build.plan_drafted())
    approvals.approvals[RUN, PLAN] = build.approval(state=ApprovalState.GRANTED)
    assert await handler.on_run_escalation_requested(ASKED) == []


async def test_a_run_without_a_record_yet_is_waited_for():
    handler = TakingOver(FakeGate(FakeClock()), FakeRuns())
    with pytest.raises(TransientError):
        await handler.on_run_escalation_requested(ASKED)
