"""Approving with a change over HTTP: what is asked for is told, and every no says why."""

import httpx
import pytest
from pydantic import SecretStr

from tocsin_contracts import RunState
from tocsin_contracts.amending import AmendmentRequested, NewValue
from tocsin_contracts.roles import Role
from tocsin_contracts.views import ApprovalState
from tocsin_gateway import amendments, api, application
from tocsin_gateway.access import Access
from tocsin_gateway.amendments import Amendments
from tocsin_gateway.live.hub import Hub
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.crowd import FakeLateNews
from tocsin_testing.fake_feed import FakeFeed
from tocsin_testing.fakes import FakeClock, FakePublisher, FakeRuns, FakeTallies
from tocsin_testing.gate import FakeApprovals
from tocsin_testing.values import MEMORY

PLAN = build.plan().plan_hash
WAITING = build.run(build.alert_accepted(), build.plan_drafted(), build.approval_requested())
PEOPLE = {
    "ana": Role.APPROVER,
    "cy": Role.APPROVER,
    "dee": Role.ADMIN,
    "olga": Role.OPERATOR,
    "vic": Role.VIEWER,
}


class Gateway:
    """The API with the route of changes; tokens are names."""

    def __init__(self, run=WAITING, **approval):
        runs, self.bus = FakeRuns(run), FakePublisher()
        self.approvals = FakeApprovals(FakeClock(), build.approval(**approval))
        routes = api.Api(
            runs, self.approvals, runs, self.bus, tallies=FakeTallies(), news=FakeLateNews()
        )
        area = amendments.routes(Amendments(runs, self.approvals, self.bus))
        tokens = {who: SecretStr(f"token-of-{who}") for who in PEOPLE}
        self.app = application.build(routes, Hub(FakeFeed()), Access(tokens, PEOPLE), area)

    async def post(self, verb, by, **said):
        headers = {"authorization": f"Bearer token-of-{by}"}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            path = f"/api/v1/runs/{RUN}/{verb}"
            return await client.post(path, headers=headers, json={"plan_hash": PLAN} | said)

    async def amend(self, by="ana", new="384Mi", path=MEMORY, **said):
        changes = [{"path": list(path), "new": new}]
        return await self.post("amend", by, **({"changes": changes} | said))


async def test_what_an_approver_wants_is_told_to_who_drafts_plans():
    gateway = Gateway()
    answer = await gateway.amend(reason="it grows")
    assert (answer.status_code, answer.json()["by"]) == (202, "ana")
    (told,) = gateway.bus.published
    assert isinstance(told, AmendmentRequested)
    assert (told.by, told.surface, told.plan_hash) == ("ana", "gateway", PLAN)
    assert told.changes == (NewValue(path=MEMORY, new="384Mi"),)
    assert (told.reason, told.cause) == ("it grows", "")
    approval = gateway.approvals.approvals[RUN, PLAN]
    assert approval.state is ApprovalState.PENDING, "the plan waits until there is another one"


@pytest.mark.parametrize("by", ["olga", "vic"])
async def test_p3_who_is_no_approver_changes_nothing(by):
    gateway = Gateway()
    assert (await gateway.amend(by)).status_code == 403
    assert gateway.bus.published == []


@pytest.mark.parametrize("by", ["cy", "dee"])
async def test_p3_who_may_not_decide_about_this_plan_hears_who_can(by):
    gateway = Gateway()
    answer = await gateway.amend(by)
    assert (answer.status_code, answer.json()["hint"]) == (403, "ask one of: ana, bo")
    assert gateway.bus.published == []


NONSENSE = {
    "a field of no edit": ({"path": ["spec", "x"]}, "no plain value"),
    "the same value": ({"new": "256Mi"}, "already"),
    "another kind": ({"new": 5}, "another kind"),
    "nothing": ({"changes": []}, "changes"),
    "too much": ({"changes": [{"path": ["a"], "new": 1}] * 21}, "changes"),
    "no value": ({"changes": [{"path": list(MEMORY), "new": {"a": 1}}]}, "changes"),
}


@pytest.mark.parametrize(("said", "why"), NONSENSE.values(), ids=NONSENSE)
async def test_what_no_plan_can_come_of_is_422(said, why):
    gateway = Gateway()
    answer = await gateway.amend(**said)
    assert answer.status_code == 422
    assert why in answer.json()["error"]
    assert gateway.bus.published == []


async def test_another_plan_than_the_one_that_waits_is_refused():
    gateway = Gateway()
    answer = await gateway.amend(plan_hash="f" * 64)
    assert answer.json() == {
        "error": "this is not the plan that waits",
        "hint": "look at the new plan",
    }


@pytest.mark.parametrize("state", [RunState.VALIDATING, RunState.PR_OPEN, RunState.EXPIRED])
async def test_a_run_that_waits_for_nobody_takes_no_change(state):
    gateway = Gateway(build.run(*WAITING.facts.values(), state=state))
    assert (await gateway.amend()).status_code == 409


async def test_what_was_decided_takes_no_change():
    gateway = Gateway(state=ApprovalState.GRANTED)
    assert (await gateway.amend()).status_code == 409


async def test_a_run_that_nobody_knows_is_404():
    gateway = Gateway(build.run(id="r9"))
    assert (await gateway.amend()).status_code == 404


async def test_the_glass_is_broken_with_a_reason():
    gateway = Gateway(breakers=("ana",), askers=("ana",))
    few = await gateway.post("approve", "ana", break_glass=True, reason="now")
    assert few.status_code == 422
    assert few.json()["hint"] == "say why in 10 characters or more"
    answer = await gateway.post("approve", "ana", break_glass=True, reason="the shop is down")
    assert (answer.status_code, answer.json()["decision"]) == (200, "granted")
    (decision,) = gateway.approvals.approvals[RUN, PLAN].decisions
    assert decision.break_glass


async def test_p3_who_may_not_break_the_glass_hears_who_may():
    gateway = Gateway(breakers=("bo",))
    answer = await gateway.post("approve", "ana", break_glass=True, reason="the shop is down")
    assert (answer.status_code, answer.json()["hint"]) == (403, "ask one of: bo")
    answer = await Gateway().post("approve", "ana", break_glass=True, reason="the shop is down")
    assert answer.json()["hint"] == "ask one of: nobody yet"
