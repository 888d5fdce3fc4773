"""Rules decide as an approver does: once, by name, and only where the operator's file says so."""

from datetime import timedelta

import pytest

from tocsin_action.unasked import Unasked
from tocsin_contracts import RunState, Verdict
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_gitops.auto_approval import AutoApproval
from tocsin_testing import build

RULE = AutoApproval(
    name="memory-up",
    alerts="routine",
    environments=("staging",),
    repositories=("shop/platform-gitops",),
    paths=("apps/**",),
    op="set",
    fields=("spec.template.spec.containers[name=*].resources.limits.memory",),
    least="64Mi",
    most="1Gi",
    factor=2,
)
OPENED = build.incident_opened(auto_approve="routine", environment="staging")


class Told:
    """Whoever answers comments; keeps what waits."""

    def __init__(self):
        self.waits = []

    async def on_approval_requested(self, event):
        self.waits.append(event)
        return []


@pytest.fixture
def told():
    return Told()


async def asked(desk, told, *, rules=(RULE,), opened=OPENED, verdict=Verdict.CONFIRMED, later=0):
    plan = desk.plan(checks=(build.check(),))
    event = await desk.ask(plan, hypothesis=build.hypothesis(verdict=verdict))
    event = event.model_copy(update={"at": opened.at + timedelta(minutes=later)})
    desk.stands(RunState.AWAITING_APPROVAL, opened, build.plan_drafted(plan=plan), event)
    unasked = Unasked(rules, desk.approvals, desk.runs, told)
    assert await unasked.on_approval_requested(event) == []
    return await desk.approvals.get(build.RUN, plan.plan_hash)


async def test_a_rule_that_fits_approves_and_the_decision_names_it(desk, told):
    approval = await asked(desk, told)
    assert (approval.state, approval.decided_by) == (ApprovalState.GRANTED, "rule:memory-up")
    (decision,) = approval.decisions
    assert (decision.surface, decision.reason) == ("rule", "the rule memory-up of gitops.yaml")
    assert len(told.waits) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"rules": ()},
        {"opened": build.incident_opened(environment="staging")},
        {"opened": build.incident_opened(auto_approve="routine", environment="prod")},
        {"opened": OPENED.model_copy(update={"freeze": "year end"})},
        {"verdict": Verdict.LIKELY},
        {"later": 31},
    ],
)
async def test_p3_a_plan_that_no_rule_fits_waits_for_people(desk, told, changes):
    assert (await asked(desk, told, **changes)).state is ApprovalState.PENDING
    assert len(told.waits) == 1


async def test_of_several_rules_the_first_that_fits_decides(desk, told):
    other = RULE.model_copy(update={"name": "other", "alerts": "else"})
    last = RULE.model_copy(update={"name": "last"})
    assert (await asked(desk, told, rules=(other, RULE, last))).decided_by == "rule:memory-up"


async def test_p5_a_rule_that_looks_again_changes_nothing(desk, told):
    plan = desk.plan(checks=(build.check(),))
    event = await desk.ask(plan, hypothesis=build.hypothesis(verdict=Verdict.CONFIRMED))
    await desk.say(event, DecisionKind.DENIED)
    desk.stands(RunState.AWAITING_APPROVAL, OPENED, event)
    await Unasked((RULE,), desk.approvals, desk.runs, told).on_approval_requested(event)
    approval = await desk.approvals.get(build.RUN, plan.plan_hash)
    assert (approval.state, approval.decided_by) == (ApprovalState.DENIED, "ana")
