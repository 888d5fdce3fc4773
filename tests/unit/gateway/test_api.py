"""The API over HTTP: what each request is answered with, and what it leaves behind."""

import httpx
import pytest
from pydantic import SecretStr

from tocsin_contracts import RunCancelRequested
from tocsin_contracts.roles import Role
from tocsin_contracts.views import ApprovalState
from tocsin_gateway import api, application, refusals
from tocsin_gateway.access import Access
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.settings import Settings
from tocsin_kit.approvals import Refusal
from tocsin_kit.errors import PermanentError
from tocsin_kit.quorum import Quorum
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.crowd import FakeLateNews
from tocsin_testing.fake_feed import FakeFeed
from tocsin_testing.fakes import (
    FakeClock,
    FakePublisher,
    FakeRuns,
    FakeTallies,
    outage,
)
from tocsin_testing.gate import FakeApprovals

PLAN = build.plan().plan_hash
WAITING = build.run(build.alert_accepted(), build.plan_drafted(), build.approval_requested())
ENDED = build.run(build.alert_accepted(run_id="r2"), build.run_finished(run_id="r2"))
TOKENS = {"ana": "token-of-ana", "bo": "token-of-bo", "mallory": "token-of-mallory"}
ROLES = dict.fromkeys(TOKENS, Role.APPROVER)


class Gateway:
    """The API with fakes behind it."""

    def __init__(self, *runs):
        self.clock = FakeClock()
        self.runs = FakeRuns(*runs)
        self.approvals = FakeApprovals(self.clock, build.approval())
        self.bus = FakePublisher()
        tokens = {who: SecretStr(token) for who, token in TOKENS.items()}
        self.tallies = FakeTallies()
        routes = api.Api(
            self.runs,
            self.approvals,
            self.runs,
            self.bus,
            tallies=self.tallies,
            news=FakeLateNews(),
        )
        self.app = application.build(routes, Hub(FakeFeed()), Access(tokens, ROLES))

    async def ask(self, method, path, by="ana", token=None, **kwargs):
        headers = {"authorization": f"Bearer {token or TOKENS[by]}"} if by else {}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, f"/api/v1/runs{path}", headers=headers, **kwargs)

    async def decide(self, answer="approve", by="ana", run_id=RUN, **verdict):
        said = {"plan_hash": PLAN} | verdict
        return await self.ask("POST", f"/{run_id}/{answer}", by, json=said)

    def needs(self, quorum):
        """Ask for the yes of more people, or from elsewhere."""
        self.approvals.approvals[RUN, PLAN] = build.approval(quorum=quorum)

    @property
    def state(self):
        return self.approvals.approvals[RUN, PLAN].state


@pytest.fixture
def gateway():
    return Gateway(WAITING, ENDED)


EVERY_ROUTE = pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/r1"),
        ("POST", "/r1/approve"),
        ("POST", "/r1/reject"),
        ("POST", "/r1/cancel"),
        ("POST", "/r1/budget"),
    ],
)


@pytest.mark.parametrize("token", [None, "wrong", "token-of-ana2"])
async def test_p3_nobody_listens_without_a_known_token(gateway, token):
    answer = await gateway.ask("GET", "/../events", by=token and "ana", token=token)
    assert (answer.status_code, answer.json()["error"]) == (401, "unknown token")


async def test_who_listens_before_the_feed_is_read_is_asked_to_try_again(gateway):
    answer = await gateway.ask("GET", "/../events")
    assert (answer.status_code, answer.json()["error"]) == (503, "the feed is not read yet")


@pytest.mark.parametrize("query", ["severity=loud", "severity=critical&severity=loud"])
async def test_a_feed_of_something_else_is_422(gateway, query):
    assert (await gateway.ask("GET", f"/../events?{query}")).status_code == 422


@EVERY_ROUTE
@pytest.mark.parametrize("token", [None, "wrong", "token-of-ana2", "token-of"])
async def test_p3_a_request_without_a_known_token_is_401(gateway, method, path, token):
    body = {"plan_hash": PLAN} if method == "POST" else None
    answer = await gateway.ask(method, path, by=token and "ana", token=token, json=body)
    assert answer.status_code == 401
    assert answer.json()["error"] == "unknown token"
    assert gateway.state is ApprovalState.PENDING
    assert (gateway.runs.cancelled, gateway.bus.published) == ([], [])


@EVERY_ROUTE
async def test_a_store_that_is_away_is_503_and_asks_to_try_again(gateway, method, path):
    gateway.runs.down = outage()
    body = {"plan_hash": PLAN} if method == "POST" else None
    answer = await gateway.ask(method, path, json=body)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("POST", "/approve"), ("POST", "/reject"), ("POST", "/cancel")],
)
async def test_an_unknown_run_is_404(gateway, method, path):
    body = {"plan_hash": PLAN} if method == "POST" else None
    answer = await gateway.ask(method, f"/nobody{path}", json=body)
    assert answer.status_code == 404
    assert answer.json()["error"] == "no run 'nobody'"


async def test_runs_are_listed_newest_first_one_line_each(gateway):
    runs = (await gateway.ask("GET", "")).json()["runs"]
    assert [(run["run_id"], run["phase"]) for run in runs] == [
        (RUN, "awaiting_approval"),
        ("r2", "escalated"),
    ]
    assert runs[0]["title"] == "KubeContainerOOMKilled"
    assert runs[1]["ended"] == "Nobody knows the cause."


async def test_runs_are_listed_by_their_state(gateway):
    runs = (await gateway.ask("GET", "?state=escalated")).json()["runs"]
    assert [run["run_id"] for run in runs] == ["r2"]


async def test_p7_a_run_that_waits_is_found_behind_many_that_do_not():
    ended = [
        build.run(build.alert_accepted(run_id=f"e{n}"), build.run_finished(run_id=f"e{n}"))
        for n in range(60)
    ]
    gateway = Gateway(*ended, WAITING)
    runs = (await gateway.ask("GET", "?state=awaiting_approval&limit=50")).json()["runs"]
    assert [run["run_id"] for run in runs] == [RUN]


async def test_no_more_runs_are_listed_than_were_asked_for(gateway):
    assert len((await gateway.ask("GET", "?limit=1")).json()["runs"]) == 1


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "state=nowhere"])
async def test_a_list_of_something_else_is_422(gateway, query):
    answer = await gateway.ask("GET", f"?{query}")
    assert answer.status_code == 422
    assert query.partition("=")[0] in answer.json()["error"]


async def test_a_run_is_shown_with_its_plan_and_approval(gateway):
    run = (await gateway.ask("GET", "/r1")).json()
    assert run["plan"]["plan_hash"] == PLAN
    assert run["plan"]["diff"] == build.plan().diff
    assert run["approval"]["state"] == "pending"
    assert [entry["topic"] for entry in run["timeline"]] == [
        "alert.accepted.v1",
        "validation.plan-drafted.v1",
        "approval.requested.v1",
    ]


async def test_a_record_that_does_not_know_its_alert_is_not_shown():
    gateway = Gateway(build.run(build.run_finished()))
    assert (await gateway.ask("GET", "/r1")).status_code == 404
    assert (await gateway.ask("GET", "")).json()["runs"] == []


async def test_a_yes_is_taken(gateway):
    answer = await gateway.decide(reason="looks right")
    assert answer.status_code == 200
    assert answer.json() == {
        "run_id": RUN,
        "decision": "granted",
        "by": "ana",
        "at": "2026-03-02T10:00:00Z",
        "given": 1,
        "required": 1,
    }
    assert gateway.state is ApprovalState.GRANTED
    assert gateway.approvals.approvals[RUN, PLAN].reason == "looks right"


async def test_a_no_is_taken(gateway):
    answer = await gateway.decide("reject", by="bo")
    assert (answer.status_code, answer.json()["decision"]) == (200, "denied")
    assert gateway.state is ApprovalState.DENIED


async def test_who_comes_second_hears_who_was_first_and_when(gateway):
    await gateway.decide(by="ana")
    gateway.clock.advance(60)
    answer = await gateway.decide("reject", by="bo")
    assert answer.status_code == 409
    assert answer.json() == {
        "error": "already granted by ana at 2026-03-02T10:00:00+00:00",
        "hint": "the first decision stands",
    }
    assert gateway.state is ApprovalState.GRANTED


async def test_p3_a_decision_that_comes_too_late_is_410(gateway):
    gateway.clock.advance(4 * 3600)
    answer = await gateway.decide()
    assert (answer.status_code, answer.json()["error"]) == (410, "the approval has expired")


@pytest.mark.parametrize(
    ("state", "status"), [(ApprovalState.EXPIRED, 410), (ApprovalState.WITHDRAWN, 409)]
)
async def test_p3_an_approval_that_was_closed_takes_no_decision(gateway, state, status):
    closed = build.approval(state=state, decided_at=NOW)
    gateway.approvals.approvals[RUN, PLAN] = closed
    assert (await gateway.decide()).status_code == status


async def test_p3_who_may_not_decide_is_403_and_hears_who_may(gateway):
    answer = await gateway.decide(by="mallory")
    assert answer.status_code == 403
    assert answer.json() == {"error": "you may not decide this", "hint": "ask one of: ana, bo"}
    assert gateway.state is ApprovalState.PENDING


async def test_a_yes_that_more_people_have_to_say_is_counted_and_names_who_can_say_the_next(
    gateway,
):
    gateway.needs(Quorum(people=2))
    first = (await gateway.decide()).json()
    assert (first["decision"], first["given"], first["required"]) == ("pending", 1, 2)
    approval = (await gateway.ask("GET", f"/{RUN}")).json()["approval"]
    assert (approval["state"], approval["required"]) == ("pending", 2)
    assert [one["by"] for one in approval["decisions"]] == ["ana"]
    again = await gateway.decide()
    assert again.status_code == 409
    assert again.json() == {"error": "you have said yes already", "hint": "ask one of: bo"}
    assert (await gateway.decide(by="bo")).json()["decision"] == "granted"


async def test_p3_a_yes_from_a_surface_that_does_not_count_is_told_what_does(gateway):
    gateway.needs(Quorum(people=2, alone=("console",), refused=("gateway",)))
    answer = await gateway.decide()
    assert answer.status_code == 403
    assert answer.json()["hint"] == (
        "it needs 1 person by the console, or 2 people; a yes by the command line does not count"
    )
    assert (await gateway.decide("reject")).status_code == 200


async def test_p3_a_decision_about_another_plan_is_403(gateway):
    answer = await gateway.decide(plan_hash="f" * 64)
    assert answer.status_code == 403
    assert answer.json()["error"] == "this is not the plan that waits"
    assert gateway.state is ApprovalState.PENDING


@pytest.mark.parametrize("answer", ["approve", "reject"])
async def test_p3_the_plan_of_one_run_is_decided_by_the_id_of_no_other(answer):
    plan = build.plan(base_sha="b" * 40)
    other = build.run(
        build.alert_accepted(run_id="r9"),
        build.plan_drafted(run_id="r9", plan=plan),
        build.approval_requested(run_id="r9", plan=plan),
    )
    gateway = Gateway(WAITING, other)
    second = build.approval(run_id="r9", plan_hash=plan.plan_hash)
    gateway.approvals.approvals["r9", plan.plan_hash] = second
    for run_id, plan_hash in ((RUN, plan.plan_hash), ("r9", PLAN)):
        refused = await gateway.decide(answer, run_id=run_id, plan_hash=plan_hash)
        assert (refused.status_code, refused.json()["hint"]) == (403, "look at the new plan")
    states = [one.state for one in gateway.approvals.approvals.values()]
    assert (states, gateway.bus.published) == ([ApprovalState.PENDING] * 2, [])


@pytest.mark.parametrize("plan_hash", ["", PLAN[:12], PLAN.upper(), PLAN + "0", None, 1])
async def test_p3_a_decision_that_names_no_whole_plan_is_422(gateway, plan_hash):
    assert (await gateway.decide(plan_hash=plan_hash)).status_code == 422
    assert gateway.state is ApprovalState.PENDING


async def test_p3_a_run_that_asked_for_nothing_takes_no_decision(gateway):
    answer = await gateway.decide(run_id="r2")
    assert answer.status_code == 409
    assert answer.json() == {"error": "the run waits for no decision", "hint": "it is escalated"}


async def test_p3_an_approval_that_the_store_lost_is_refused(gateway):
    gateway.approvals.approvals.clear()
    answer = await gateway.decide()
    assert answer.status_code == 409
    assert answer.json()["error"] == "no approval was asked for this plan"


async def test_a_cancelled_run_is_flagged_and_told(gateway):
    answer = await gateway.ask("POST", "/r1/cancel", json={"reason": "a drill"})
    assert answer.status_code == 200
    assert (answer.json()["run_id"], answer.json()["by"]) == (RUN, "ana")
    assert gateway.runs.cancelled == [RUN]
    (event,) = gateway.bus.published
    assert isinstance(event, RunCancelRequested)
    assert (event.by, event.reason, event.producer) == ("ana", "a drill", "gateway")
    assert event.id


async def test_a_run_that_has_ended_cannot_be_cancelled(gateway):
    answer = await gateway.ask("POST", "/r2/cancel", json={})
    assert answer.status_code == 409
    assert answer.json()["error"] == "the run has ended: escalated"
    assert (gateway.runs.cancelled, gateway.bus.published) == ([], [])


async def test_p6_no_answer_holds_a_token(gateway):
    answers = [
        await gateway.ask("GET", "/r1"),
        await gateway.decide(),
        await gateway.decide(),
        await gateway.ask("GET", "/r1", token="wrong-token"),
    ]
    for answer in answers:
        assert not any(token in answer.text for token in [*TOKENS.values(), "wrong-token"])


@pytest.mark.parametrize("refusal", list(Refusal))
def test_every_refusal_has_an_answer_with_something_to_do(refusal):
    if refusal is not Refusal.ALREADY:
        answer = refusals.refused(refusal)
        assert 400 <= answer.status < 500
        assert answer.view.error
        assert answer.view.hint


def test_the_openapi_document_names_every_route(gateway):
    document = gateway.app.openapi()
    assert {path: sorted(methods) for path, methods in document["paths"].items()} == {
        "/api/v1/events": ["get"],
        "/api/v1/runs": ["get"],
        "/api/v1/runs/{run_id}": ["get"],
        "/api/v1/runs/{run_id}/approve": ["post"],
        "/api/v1/runs/{run_id}/reject": ["post"],
        "/api/v1/runs/{run_id}/cancel": ["post"],
        "/api/v1/runs/{run_id}/budget": ["post"],
    }
    assert "HTTPBearer" in document["components"]["securitySchemes"]


def test_a_gateway_that_nobody_could_use_does_not_start(monkeypatch):
    monkeypatch.delenv("TOCSIN_API_TOKENS", raising=False)
    with pytest.raises(PermanentError, match="set TOCSIN_API_TOKENS"):
        Settings.load()
