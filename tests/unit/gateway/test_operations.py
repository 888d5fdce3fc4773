"""What operators do over HTTP: dead letters, runs begun anew or taken over, and reports."""

import httpx
import pytest
from pydantic import SecretStr

from tocsin_contracts import RunId, RunState
from tocsin_contracts.operations import RunEscalationRequested, RunRerun
from tocsin_contracts.roles import Role
from tocsin_gateway import api, application, deadletters, operations, reports
from tocsin_gateway.access import Access
from tocsin_gateway.deadletters import DeadLetters
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.operations import Operations
from tocsin_kit.reruns import NotRerunError
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.crowd import FakeLateNews
from tocsin_testing.fake_feed import FakeFeed
from tocsin_testing.fake_parked import FakeParked, letter
from tocsin_testing.fakes import FakeClock, FakePublisher, FakeRuns, FakeTallies, outage
from tocsin_testing.gate import FakeApprovals

TOKENS = {"ana": SecretStr("token-of-ana-of-16"), "vi": SecretStr("token-of-vi-of-16c")}
WAITING = build.run(build.alert_accepted(), build.plan_drafted(), build.approval_requested())
ENDED = build.run(build.alert_accepted(run_id="r2"), build.run_finished(run_id="r2"))


class FakeReruns:
    """Begins runs in memory, or says why not."""

    def __init__(self, refusal=""):
        self.refusal = refusal
        self.begun = []

    async def begin(self, run, by, reason=""):
        if self.refusal:
            raise NotRerunError(self.refusal)
        self.begun.append((run.id, by, reason))
        return RunRerun(run_id=RunId("r9"), of=run.id, by=by, reason=reason)


class Desk:
    """The API of operators with fakes behind it."""

    def __init__(self):
        self.letters, self.reruns = FakeParked(letter(7), letter(8)), FakeReruns()
        self.bus, self.runs = FakePublisher(), FakeRuns(WAITING, ENDED)
        routes = api.Api(
            self.runs,
            FakeApprovals(FakeClock(), build.approval()),
            self.runs,
            self.bus,
            tallies=FakeTallies(),
            news=FakeLateNews(),
        )
        self.app = application.build(
            routes,
            Hub(FakeFeed()),
            Access(TOKENS, {"ana": Role.OPERATOR}),
            deadletters.routes(DeadLetters(self.letters)),
            operations.routes(Operations(self.runs, self.reruns, self.bus)),
            reports.routes(routes),
        )

    async def ask(self, method, path, by="ana", **kwargs):
        headers = {"authorization": f"Bearer {TOKENS[by].get_secret_value()}"}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, f"/api/v1{path}", headers=headers, **kwargs)


@pytest.fixture
def desk():
    return Desk()


async def test_everybody_may_look_at_letters_and_only_the_one_shown_has_a_body(desk):
    page = (await desk.ask("GET", "/deadletters?limit=1", "vi")).json()
    assert ([one["number"] for one in page["letters"]], page["total"]) == ([8], 2)
    assert page["letters"][0]["body"] == ""
    assert (await desk.ask("GET", "/deadletters/7", "vi")).json()["body"] == '{"alert": {}}'
    assert (await desk.ask("GET", "/deadletters/9", "vi")).status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/deadletters/7/replay", "/deadletters/7/discard", "/runs/r2/rerun", f"/runs/{RUN}/escalate"],
)
async def test_who_may_only_look_changes_nothing(desk, path):
    answer = await desk.ask("POST", path, "vi", json={"reason": "why"})
    assert (answer.status_code, desk.letters.done) == (403, [])
    assert "ana" in answer.json()["hint"]
    assert (desk.reruns.begun, desk.bus.published) == ([], [])


async def test_an_operator_has_a_letter_given_again_once(desk):
    answer = await desk.ask("POST", "/deadletters/7/replay", json={"reason": "mended"})
    assert (answer.status_code, answer.json()["by"]) == (200, "ana")
    assert (await desk.ask("POST", "/deadletters/7/replay", json={})).status_code == 404


async def test_a_letter_that_cannot_be_given_again_says_why(desk):
    desk.letters.refusal = "run r2 is cancelled"
    answer = await desk.ask("POST", "/deadletters/7/replay", json={})
    assert (answer.status_code, answer.json()["error"]) == (409, "run r2 is cancelled")


async def test_a_letter_is_thrown_away_with_a_reason_only(desk):
    assert (await desk.ask("POST", "/deadletters/7/discard", json={})).status_code == 422
    assert (
        await desk.ask("POST", "/deadletters/7/discard", json={"reason": " "})
    ).status_code == 422
    answer = await desk.ask("POST", "/deadletters/7/discard", json={"reason": "a test"})
    assert (answer.status_code, desk.letters.done[0].reason) == (200, "a test")


async def test_a_bus_that_does_not_answer_is_told(desk):
    desk.letters.down = outage()
    assert (await desk.ask("GET", "/deadletters")).status_code == 503


async def test_a_run_that_ended_is_begun_anew_by_a_run_that_names_it(desk):
    answer = await desk.ask("POST", "/runs/r2/rerun", json={"reason": "the store is back"})
    assert answer.json() | {"at": ""} == {"run_id": "r9", "of": "r2", "by": "ana", "at": ""}
    assert desk.reruns.begun == [("r2", "ana", "the store is back")]


async def test_a_run_that_cannot_be_begun_anew_says_why(desk):
    desk.reruns.refusal = "run r3 looks after the alerts of run r2 already"
    answer = await desk.ask("POST", "/runs/r2/rerun", json={})
    assert (answer.status_code, answer.json()["error"]) == (409, desk.reruns.refusal)
    assert (await desk.ask("POST", "/runs/none/rerun", json={})).status_code == 404


async def test_an_undecided_run_is_taken_over_by_whom_and_why(desk):
    answer = await desk.ask("POST", f"/runs/{RUN}/escalate", json={"reason": "we look ourselves"})
    (told,) = desk.bus.published
    assert (answer.status_code, type(told)) == (200, RunEscalationRequested)
    assert (told.by, told.reason, told.producer) == ("ana", "we look ourselves", "gateway")


@pytest.mark.parametrize("state", [RunState.APPLYING, RunState.PR_OPEN, RunState.RESOLVED])
async def test_a_run_that_was_decided_is_not_taken_over(desk, state):
    desk.runs.runs[RUN] = build.run(*WAITING.facts.values(), state=state)
    answer = await desk.ask("POST", f"/runs/{RUN}/escalate", json={})
    assert (answer.status_code, desk.bus.published) == (409, [])
    assert state.value in answer.json()["error"]


async def test_a_report_is_markdown_or_json(desk):
    page = await desk.ask("GET", f"/runs/{RUN}/report", "vi")
    assert page.headers["content-type"] == "text/markdown; charset=utf-8"
    assert page.text.startswith("# Incident: KubeContainerOOMKilled\n")
    told = (await desk.ask("GET", f"/runs/{RUN}/report?format=json", "vi")).json()
    assert told["run_id"] == RUN
    assert (await desk.ask("GET", f"/runs/{RUN}/report?format=pdf")).status_code == 422
