"""The console over HTTP: what each page shows, what its buttons do, and who is kept out."""

import gzip
import re
from datetime import timedelta
from html.parser import HTMLParser

import httpx
import pytest
from pydantic import SecretStr

from tocsin_contracts import CheckVerdict, RunCancelRequested, RunState, Severity
from tocsin_contracts.amending import AmendmentRefused, AmendmentRequested, NewValue
from tocsin_contracts.roles import Role
from tocsin_contracts.views import ApprovalState
from tocsin_gateway import api, application
from tocsin_gateway.access import Access
from tocsin_gateway.amendments import Amendments
from tocsin_gateway.console import rendering, site
from tocsin_gateway.console.books import Books
from tocsin_gateway.console.desk import Desk
from tocsin_gateway.console.sessions import Sessions
from tocsin_gateway.live.hub import Hub
from tocsin_kit.quorum import Quorum
from tocsin_testing import build, operating
from tocsin_testing.build import NOW, RUN
from tocsin_testing.crowd import FakeLateNews
from tocsin_testing.fake_feed import FakeFeed
from tocsin_testing.fakes import FakeClock, FakePublisher, FakeRuns, FakeTallies, outage
from tocsin_testing.gate import FakeApprovals
from tocsin_testing.operating import FakeLetters, FakeOperations, FakeOutcomes, FakeStatuses
from tocsin_testing.values import MEMORY

PLAN = build.plan().plan_hash
WAITING = build.run(
    build.alert_accepted(),
    build.hypothesis_formed(),
    build.plan_drafted(),
    build.approval_requested(),
)
ENDED = build.run(build.alert_accepted(run_id="r2"), build.run_finished(run_id="r2"))
TOKENS = {"ana": "token-of-ana-1234", "bo": "token-of-bo-12345", "mallory": "token-of-mallory"}
ROLES = dict.fromkeys(TOKENS, Role.APPROVER)


class Page(HTMLParser):
    """What a browser makes of a page: its forms, its links, its words."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.links, self.tags, self.words = {}, [], [], []
        self._action = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.tags.append((tag, told))
        if tag == "form":
            self._action = told["action"]
            self.forms[self._action] = {}
        if tag == "input":
            self.forms[self._action][told["name"]] = told.get("value", "")
        if tag == "a":
            self.links.append(told.get("href", ""))

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


class Browser:
    """One browser at the gateway, with fakes behind it and no script."""

    def __init__(self, *runs, https=False, clock=None):
        self.clock = clock or FakeClock(NOW + timedelta(minutes=30))
        self.runs = FakeRuns(*runs)
        self.approvals = FakeApprovals(self.clock, build.approval())
        self.bus = FakePublisher()
        tokens = {who: SecretStr(token) for who, token in TOKENS.items()}
        tallies, news = FakeTallies(), FakeLateNews()
        self.feed = FakeFeed()
        self.hub, self.books = Hub(self.feed), Books(self.feed)
        self.statuses, self.letters = FakeStatuses(), FakeLetters(operating.letter(7))
        self.operations, self.outcomes = FakeOperations(), FakeOutcomes()
        self.access = Access(tokens, ROLES)
        self.routes = api.Api(
            self.runs,
            self.approvals,
            self.runs,
            self.bus,
            tallies=tallies,
            news=news,
        )
        self.console = site.console(
            self.routes,
            Desk(self.runs, self.approvals, tallies, news),
            Sessions(self.access, 12, self.clock, https=https),
            amendments=Amendments(self.runs, self.approvals, self.bus),
            hub=self.hub,
            books=self.books,
            statuses=self.statuses,
            letters=self.letters,
            operations=self.operations,
            outcomes=self.outcomes,
            clock=self.clock,
        )
        self.app = application.build(self.routes, self.hub, self.access)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(site.beside(self.app, self.console, https=https)),
            base_url="https://console" if https else "http://console",
        )

    async def get(self, path):
        return await self.client.get(path)

    async def page(self, path):
        answer = await self.get(path)
        assert answer.status_code == 200, answer.text
        return Page(answer.text)

    async def enter(self, who="ana"):
        form = Page((await self.get("/login")).text).forms["/login"]
        answer = await self.post("/login", **(form | {"token": TOKENS[who]}))
        assert answer.status_code == 303
        return self

    async def post(self, path, **fields):
        return await self.client.post(path, data=fields)

    async def press(self, path, button, **fields):
        """Send a form of a page with what it holds, and these fields changed."""
        form = (await self.page(path)).forms[button]
        return await self.post(button, **(form | fields))

    @property
    def state(self):
        return self.approvals.approvals[RUN, PLAN].state


@pytest.fixture
async def browser():
    return await Browser(WAITING, ENDED).enter()


PAGES = [
    "/",
    "/runs",
    "/runs/r1",
    "/feed",
    "/dead-letters",
    "/dead-letters/7",
    "/services",
    "/audit",
    "/cost",
]
GETS = [
    *PAGES,
    "/runs.json",
    "/runs.csv",
    "/audit.json",
    "/audit.csv",
    "/runs/r1/events.json",
    "/events",
]
LETTER_POSTS = ["/dead-letters/7/replay", "/dead-letters/7/discard"]
ACTS = ("approve", "amend", "break-glass", "reject", "cancel", "rerun", "escalate", "rate")
POSTS = [*(f"/runs/r1/{act}" for act in ACTS), *LETTER_POSTS, "/logout"]


@pytest.mark.parametrize("path", GETS)
async def test_p3_a_stranger_is_led_to_the_door_and_back(path):
    browser = Browser(WAITING)
    answer = await browser.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login")
    assert "KubeContainer" not in answer.text


@pytest.mark.parametrize("path", POSTS)
async def test_p3_a_stranger_decides_nothing(path):
    browser = Browser(WAITING)
    answer = await browser.post(path, plan_hash=PLAN, reason="x", csrf="x")
    assert answer.status_code == 401
    assert "Nothing was decided" in answer.text
    assert (browser.state, browser.bus.published) == (ApprovalState.PENDING, [])


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("csrf", ["", "guessed", "é", None])
async def test_p3_a_form_that_was_not_made_for_the_session_decides_nothing(browser, path, csrf):
    fields = {"plan_hash": PLAN, "reason": "x"} | ({} if csrf is None else {"csrf": csrf})
    answer = await browser.post(path, **fields)
    assert answer.status_code == 403
    assert "not made for you" in answer.text
    assert (browser.state, browser.bus.published) == (ApprovalState.PENDING, [])
    assert (await browser.get("/")).status_code == 200


async def test_p3_a_form_of_somebody_elses_session_decides_nothing(browser):
    other = await Browser(WAITING).enter("bo")
    form = (await other.page("/runs/r1")).forms["/runs/r1/approve"]
    assert (await browser.post("/runs/r1/approve", **form)).status_code == 403


@pytest.mark.parametrize("path", [*POSTS, "/login"])
@pytest.mark.parametrize("body", [b"\xff\xfe", b"&".join([b"a=b"] * 30), b"no form"])
async def test_a_body_that_is_no_form_is_400(browser, path, body):
    answer = await browser.client.post(path, content=body)
    assert answer.status_code == 400


@pytest.mark.parametrize("path", [*POSTS, "/login"])
async def test_a_body_that_is_too_big_is_413(browser, path):
    answer = await browser.client.post(path, content=b"a=" + b"x" * 70_000)
    assert answer.status_code == 413


@pytest.mark.parametrize("token", ["", "wrong", "token-of-ana-12345", "té"])
async def test_p3_nobody_enters_with_a_token_that_is_not_known(token):
    browser = Browser(WAITING)
    form = Page((await browser.get("/login")).text).forms["/login"]
    answer = await browser.post("/login", **(form | {"token": token}))
    assert answer.status_code == 401
    assert "tocsin_session" not in browser.client.cookies
    assert (await browser.get("/")).status_code == 303


async def test_p3_a_login_that_another_site_sends_is_refused():
    browser = Browser(WAITING)
    answer = await browser.post("/login", token=TOKENS["ana"], csrf="x" * 32, next="/")
    assert answer.status_code == 403
    assert "tocsin_session" not in browser.client.cookies


@pytest.mark.parametrize(
    ("asked", "then"),
    [
        ("/runs/r1", "/runs/r1"),
        ("/runs/r1?done=approved", "/runs/r1?done=approved"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/runs/../../x\r\nSet-Cookie: a=b", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
async def test_p3_who_enters_goes_to_a_page_of_ours(asked, then):
    browser = Browser(WAITING)
    answer = await browser.client.get("/login", params={"next": asked})
    form = Page(answer.text).forms["/login"]
    answer = await browser.post("/login", **(form | {"token": TOKENS["ana"]}))
    assert (answer.status_code, answer.headers["location"]) == (303, then)


async def test_who_is_in_already_is_not_asked_again(browser):
    assert (await browser.get("/login")).headers["location"] == "/"


@pytest.mark.parametrize("https", [False, True])
async def test_p3_the_cookie_is_out_of_reach_of_scripts_and_other_sites(https):
    browser = Browser(WAITING, https=https)
    form = Page((await browser.get("/login")).text).forms["/login"]
    answer = await browser.post("/login", **(form | {"token": TOKENS["ana"]}))
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert ("secure" in cookie) is https


async def test_who_signs_out_is_out(browser):
    answer = await browser.press("/", "/logout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert (await browser.get("/")).status_code == 303


async def test_a_session_ends_by_itself(browser):
    browser.clock.advance(12 * 3600 + 1)
    assert (await browser.get("/")).status_code == 303


EVERY = [*GETS[:-1], "/login", "/nowhere", "/runs/nobody", "/static/console.css", "/static/x"]


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("path", EVERY)
async def test_p3_every_answer_forbids_foreign_code_and_frames(path, inside):
    browser = Browser(WAITING)
    if inside:
        await browser.enter()
    headers = (await browser.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert ("no-store" in headers["cache-control"]) is not (path == "/static/console.css")


SCRIPTS = ("/static/theme.js", "/static/console.js")


@pytest.mark.parametrize("path", [*PAGES, "/login", "/runs/nobody"])
async def test_p3_no_page_has_script_or_style_of_its_own(browser, path):
    for tag, told in Page((await browser.get(path)).text).tags:
        assert tag != "style"
        assert tag != "script" or told["src"].split("?")[0] in SCRIPTS
        assert not any(name == "style" or name.startswith("on") for name in told)


async def test_the_inbox_shows_what_waits_for_the_reader_on_a_line(browser):
    page = await browser.page("/")
    assert "Waiting for you 1" in page.text
    assert "/runs/r1#plan" in page.links
    assert "128Mi → 256Mi" in page.text
    assert "low risk" in page.text
    assert "in 3 h 30 min" in page.text
    assert PLAN[:12] in page.text


async def test_what_waits_for_others_is_shown_apart():
    page = await (await Browser(WAITING).enter("mallory")).page("/")
    assert "Waiting for you 0" in page.text
    assert "Waiting for others 1" in page.text
    assert "waits for ana, bo" in page.text


async def test_an_inbox_with_nothing_in_it_says_that_it_looked():
    page = await (await Browser(ENDED).enter()).page("/")
    assert "No plan waits for your decision" in page.text
    assert "asked just now and answered" in page.text


async def test_what_was_decided_already_waits_no_more(browser):
    browser.approvals.approvals[RUN, PLAN] = build.approval(state=ApprovalState.GRANTED)
    assert "Waiting for you 0" in (await browser.page("/")).text


STORED = ["/", "/runs", "/runs/r1", "/runs.json", "/runs.csv", "/runs/r1/events.json"]


@pytest.mark.parametrize("path", STORED)
async def test_p7_a_store_that_is_away_is_never_shown_as_nothing_to_do(browser, path):
    browser.runs.down = outage()
    answer = await browser.get(path)
    assert answer.status_code == 503
    assert "unknown right now" in answer.text
    assert "No plan waits" not in answer.text
    assert "no runs" not in answer.text


async def test_a_run_is_shown_with_all_that_a_decision_needs(browser):
    page = await browser.page("/runs/r1")
    plan = build.plan()
    for line in plan.diff.splitlines():
        assert " ".join(line.split()) in page.text
    assert plan.plan_hash in page.text
    for told in (*plan.effects, *plan.risk_reasons, *(one.detail for one in plan.checks)):
        assert told in page.text
    evidence = build.hypothesis().evidence
    assert evidence
    for one in evidence:
        assert one.source in page.text
        assert f"#ev-{one.id}" in page.links
    assert build.hypothesis().finding.summary in page.text


async def test_a_timeline_says_what_was_waited_for(browser):
    assert "30 min of waiting for a decision, until now" in (await browser.page("/runs/r1")).text


async def test_a_run_that_ended_only_offers_to_begin_anew(browser):
    page = await browser.page("/runs/r2")
    assert set(page.forms) == {"/logout", "/runs/r2/rerun"}
    assert "Nobody knows the cause." in page.text


async def test_the_raw_events_are_all_there(browser):
    answer = await browser.get("/runs/r1/events.json")
    assert answer.headers["content-type"] == "application/json"
    topics = [fact["topic"] for fact in answer.json()]
    assert topics[0] == "alert.accepted.v1"
    assert len(topics) == len(WAITING.facts)


async def test_a_yes_is_taken_without_any_script(browser):
    answer = await browser.press("/runs/r1", "/runs/r1/approve")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/r1")
    approval = browser.approvals.approvals[RUN, PLAN]
    assert (approval.state, approval.decided_by) == (ApprovalState.GRANTED, "ana")
    page = await browser.page("/runs/r1")
    assert "You approved this plan" in page.text
    assert "/runs/r1/approve" not in page.forms


async def test_a_yes_comes_from_the_console(browser):
    await browser.press("/runs/r1", "/runs/r1/approve", reason=" looks right ")
    (decision,) = browser.approvals.approvals[RUN, PLAN].decisions
    assert (decision.surface, decision.reason) == ("console", "looks right")


async def test_a_no_is_taken_with_its_reason(browser):
    answer = await browser.press("/runs/r1", "/runs/r1/reject", reason="too much")
    assert answer.headers["location"] == "/runs/r1"
    assert browser.state is ApprovalState.DENIED


@pytest.mark.parametrize("reason", ["", "   "])
async def test_a_no_without_a_reason_is_asked_for_one(browser, reason):
    answer = await browser.press("/runs/r1", "/runs/r1/reject", reason=reason)
    assert answer.status_code == 422
    assert "a no needs a reason" in answer.text
    assert browser.state is ApprovalState.PENDING


async def test_a_reason_without_end_is_refused(browser):
    answer = await browser.press("/runs/r1", "/runs/r1/approve", reason="x" * 1001)
    assert answer.status_code == 422
    assert browser.state is ApprovalState.PENDING


async def test_p3_a_plan_that_was_replaced_meanwhile_is_not_approved(browser):
    form = (await browser.page("/runs/r1")).forms["/runs/r1/approve"]
    newer = build.plan(title="Another change")
    browser.runs.runs[RUN] = build.run(
        build.alert_accepted(),
        build.hypothesis_formed(),
        build.plan_drafted(plan=newer),
        build.approval_requested(plan=newer),
    )
    again = build.approval(plan_hash=newer.plan_hash)
    browser.approvals.approvals[RUN, newer.plan_hash] = again
    answer = await browser.post("/runs/r1/approve", **form)
    assert answer.status_code == 403
    page = Page(answer.text)
    assert "Nothing was done" in page.text
    assert "not the plan that waits" in page.text
    assert "Another change" in page.text
    assert page.forms["/runs/r1/approve"]["plan_hash"] == newer.plan_hash
    assert browser.state is ApprovalState.PENDING


@pytest.mark.parametrize("given", ["", PLAN[:12], PLAN.upper(), "<b>"])
async def test_p3_a_decision_names_its_whole_plan(browser, given):
    answer = await browser.press("/runs/r1", "/runs/r1/approve", plan_hash=given)
    assert answer.status_code == 422
    assert browser.state is ApprovalState.PENDING


async def test_p3_who_may_not_decide_hears_who_may():
    browser = await Browser(WAITING).enter("mallory")
    answer = await browser.press("/runs/r1", "/runs/r1/approve")
    assert answer.status_code == 403
    assert "you may not decide this; ask one of: ana, bo" in Page(answer.text).text
    assert browser.state is ApprovalState.PENDING


async def test_who_comes_second_hears_who_was_first(browser):
    form = (await browser.page("/runs/r1")).forms["/runs/r1/approve"]
    await browser.post("/runs/r1/approve", **form)
    answer = await browser.post("/runs/r1/approve", **form)
    assert answer.status_code == 409
    assert "already granted by ana" in answer.text


async def test_a_decision_that_comes_too_late_is_told(browser):
    form = (await browser.page("/runs/r1")).forms["/runs/r1/approve"]
    browser.clock.advance(4 * 3600)
    answer = await browser.post("/runs/r1/approve", **form)
    assert answer.status_code == 410
    assert "the approval has expired" in answer.text


async def test_a_cancelled_run_is_flagged_and_told(browser):
    answer = await browser.press("/runs/r1", "/runs/r1/cancel", reason="a drill")
    assert answer.headers["location"] == "/runs/r1"
    (event,) = browser.bus.published
    assert isinstance(event, RunCancelRequested)
    assert (event.by, event.reason) == ("ana", "a drill")


async def test_an_unknown_run_is_404_in_words(browser):
    answer = await browser.get("/runs/nobody")
    assert answer.status_code == 404
    assert "no run 'nobody'" in Page(answer.text).text


async def test_words_in_the_address_get_on_no_page(browser):
    page = await browser.page("/runs/r1?done=approved&done=%3Cb%3Eyou+won")
    assert "you won" not in page.text
    assert "You approved" not in page.text


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'{{7*7}}\u202eevil\u200b"


def hostile():
    alert = build.alert(
        title=HOSTILE,
        summary=HOSTILE,
        source=HOSTILE,
        link="javascript:alert(1)",
        severity=Severity.CRITICAL,
    )
    plan = build.plan(
        diff=f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{HOSTILE}\n+{HOSTILE}\n",
        title=HOSTILE,
        effects=(HOSTILE,),
        risk_reasons=(HOSTILE,),
        checks=(build.check(verdict=CheckVerdict.FAIL, detail=HOSTILE),),
    )
    hypothesis = build.hypothesis(
        evidence=(build.evidence(excerpt=HOSTILE, query=HOSTILE, ref=HOSTILE),), disproof=HOSTILE
    )
    return build.run(
        build.alert_accepted(alert=alert),
        build.hypothesis_formed(alert=alert, hypothesis=hypothesis),
        build.plan_drafted(alert=alert, plan=plan),
        build.approval_requested(alert=alert, plan=plan),
        build.pull_request_opened(url="javascript:alert(1)", title=HOSTILE),
        state=RunState.AWAITING_APPROVAL,
    ), plan


@pytest.mark.parametrize("path", ["/", "/runs", "/runs/r1"])
async def test_p3_what_others_wrote_is_text_and_nothing_in_it_is_hidden(path):
    run, plan = hostile()
    browser = await Browser(run).enter()
    approval = build.approval(plan_hash=plan.plan_hash)
    browser.approvals.approvals[RUN, plan.plan_hash] = approval
    text = (await browser.get(path)).text
    page = Page(text)
    assert "<script>alert(1)</script><img" in page.text
    assert "{{7*7}}" in page.text
    assert [told["src"] for tag, told in page.tags if tag == "img"] == [rendering.asset("icon.svg")]
    assert not any(link.startswith("javascript") for link in page.links)
    assert "⟨U+202E⟩evil⟨U+200B⟩" in page.text
    assert not re.search("[\u202e\u200b]", text)


async def test_p6_no_page_holds_a_token(browser):
    for path in ("/", "/runs/r1", "/login", "/runs/nobody"):
        text = (await browser.get(path)).text
        assert not any(token in text for token in TOKENS.values())


async def test_the_api_keeps_its_own_door_and_words(browser):
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(site.beside(browser.app, browser.console)),
        base_url="http://console",
    ) as client:
        answer = await client.get("/api/v1/runs")
        assert (answer.status_code, answer.json()["error"]) == (401, "unknown token")
        assert (await client.get("/openapi.json")).status_code == 200
        assert (await client.get("/")).headers["location"] == "/login"


async def test_what_is_sent_to_every_page_is_small():
    sizes = {name: len(gzip.compress(rendering.content(name))) for name in rendering.STATIC}
    assert sum(sizes.values()) < 60_000
    assert sizes["console.js"] + sizes["theme.js"] < 5_000


async def test_runs_are_listed_with_what_became_of_them(browser):
    page = await browser.page("/runs")
    assert "2 runs of the newest 2" in page.text
    assert {"/runs/r1", "/runs/r2"} <= set(page.links)
    assert "Nobody knows the cause." in page.text


async def test_a_search_is_an_address_that_can_be_shared(browser):
    page = await browser.page("/runs?state=escalated")
    assert "1 run of the newest 1 that are escalated" in page.text
    assert "/runs/r1" not in page.links
    assert "/runs.csv?state=escalated" in page.links
    assert ("input", "escalated") in [
        (tag, told.get("value")) for tag, told in page.tags if "checked" in told
    ]


async def test_a_search_that_finds_nothing_says_how_far_it_looked(browser):
    page = await browser.page("/runs?q=nothing")
    assert "No run matches. The newest 2 runs were looked through." in page.text


async def test_a_list_without_runs_says_that_it_looked():
    page = await (await Browser().enter()).page("/runs")
    assert "There are no runs. The store was asked just now" in page.text


async def test_a_facet_that_is_none_is_told_with_those_that_are(browser):
    answer = await browser.get("/runs?state=nowhere")
    assert answer.status_code == 422
    assert "awaiting_approval" in answer.text


async def test_older_runs_are_on_the_next_page():
    runs = [build.run(build.alert_accepted(run_id=f"n{number}")) for number in range(60)]
    browser = await Browser(*runs).enter()
    first, second = await browser.page("/runs"), await browser.page("/runs?page=2")
    assert "/runs?page=2" in first.links
    assert "/runs?" in second.links
    assert ("/runs/n0" in first.links, "/runs/n59" in second.links) == (True, True)
    assert "Page 2 of 2" in (await browser.page("/runs?page=99")).text


async def test_what_was_found_is_exported_whole(browser):
    told = (await browser.get("/runs.json?state=escalated")).json()["runs"]
    assert [(run["run_id"], run["source"]) for run in told] == [("r2", "alertmanager")]
    answer = await browser.get("/runs.csv?state=escalated")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.text.splitlines()[1].startswith("r2,escalated,")


async def test_a_plan_that_takes_two_people_says_how_many_have_said_yes(browser):
    both = Quorum(people=2)
    browser.approvals.approvals[RUN, PLAN] = build.approval(quorum=both)
    answer = await browser.press("/runs/r1", "/runs/r1/approve")
    assert answer.headers["location"] == "/runs/r1"
    page = await browser.page("/runs/r1")
    assert "You said yes. It takes more people" in page.text
    assert "1 of 2 have said yes: ana." in page.text


async def test_an_ended_run_is_begun_anew_and_the_new_one_is_shown(browser):
    answer = await browser.press("/runs/r2", "/runs/r2/rerun", reason="it is back")
    assert answer.headers["location"] == "/runs/r2-again"
    assert browser.operations.told == [("rerun", "r2", "it is back", "ana")]
    assert "/runs/r2/escalate" not in (await browser.page("/runs/r2")).forms


async def test_a_run_that_waits_can_be_taken_over(browser):
    await browser.press("/runs/r1", "/runs/r1/escalate", reason="I know this one")
    assert browser.operations.told == [("escalate", "r1", "I know this one", "ana")]
    assert "/runs/r1/rerun" not in (await browser.page("/runs/r1")).forms


async def test_a_run_has_its_report_as_a_file(browser):
    assert "/api/v1/runs/r1/report" in (await browser.page("/runs/r1")).links


async def test_the_live_page_says_that_nothing_is_known_before_the_feed_is_read(browser):
    page = await browser.page("/feed?severity=critical&topic=approval.&run=r1")
    assert "The feed is not read yet." in page.text


async def test_a_page_asks_for_news_after_what_it_shows(browser):
    asks = [
        told["data-events"]
        for tag, told in (await browser.page("/feed?run=r%261")).tags
        if "data-events" in told
    ]
    assert asks == ["/events?after=0&run=r%261"]


async def test_the_audit_is_not_exported_before_it_is_whole(browser):
    assert "The stream is still being read" in (await browser.page("/audit")).text
    assert (await browser.get("/audit.csv")).status_code == 503


async def test_costs_are_shown_for_a_number_of_days_that_there_is(browser):
    assert "these sums are not whole" in (await browser.page("/cost?days=30")).text
    assert (await browser.get("/cost?days=31")).status_code == 422


async def test_the_glass_is_broken_by_a_form_of_its_own_where_one_yes_is_not_enough(browser):
    assert "/runs/r1/break-glass" not in (await browser.page("/runs/r1")).forms
    both = build.approval(quorum=Quorum(people=2), breakers=("ana",))
    browser.approvals.approvals[RUN, PLAN] = both
    answer = await browser.press("/runs/r1", "/runs/r1/break-glass", reason="the site is down")
    assert answer.status_code == 303
    (decision,) = browser.approvals.approvals[RUN, PLAN].decisions
    assert (browser.state, decision.break_glass) == (ApprovalState.GRANTED, True)


async def test_another_value_is_asked_for_by_a_form_that_holds_those_of_the_plan(browser):
    form = (await browser.page("/runs/r1")).forms["/runs/r1/amend"]
    assert form["value-0"] == "256Mi"
    answer = await browser.press("/runs/r1", "/runs/r1/amend", **{"value-0": " 384Mi "})
    assert answer.status_code == 202
    assert "A new plan, or why there is none, comes in seconds." in Page(answer.text).text
    (told,) = browser.bus.published
    assert isinstance(told, AmendmentRequested)
    assert (told.by, told.surface, told.changes[0].new) == ("ana", "console", "384Mi")
    assert browser.state is ApprovalState.PENDING


@pytest.mark.parametrize(
    ("typed", "why"),
    [("256Mi", "no value is another one"), ("", "a value has 1 to 1000 characters")],
)
async def test_values_that_are_none_ask_for_nothing(browser, typed, why):
    answer = await browser.press("/runs/r1", "/runs/r1/amend", **{"value-0": typed})
    assert answer.status_code == 422
    assert why in Page(answer.text).text
    assert browser.bus.published == []


async def test_p3_other_values_for_a_plan_that_was_replaced_ask_for_nothing(browser):
    other = {"value-0": "384Mi", "plan_hash": "0" * 64}
    answer = await browser.press("/runs/r1", "/runs/r1/amend", **other)
    assert (answer.status_code, browser.bus.published) == (403, [])
    assert "not the plan that waits" in Page(answer.text).text


async def test_who_may_not_decide_is_shown_no_form_for_other_values():
    mallory = await Browser(WAITING).enter("mallory")
    assert "/runs/r1/amend" not in (await mallory.page("/runs/r1")).forms


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ((), "asked for another value: …resources.limits.memory 384Mi."),
        ((AmendmentRefused,), "No plan comes of the values that ana asked for: too much."),
    ],
)
async def test_what_becomes_of_other_values_is_on_the_page(told, says):
    later = {"by": "ana", "plan_hash": PLAN, "run_id": RUN, "at": NOW + timedelta(minutes=1)}
    wanted = AmendmentRequested(
        **later, surface="console", changes=(NewValue(path=MEMORY, new="384Mi"),)
    )
    run = build.run(
        build.alert_accepted(),
        build.plan_drafted(),
        build.approval_requested(),
        wanted.caused_by("w", "gateway"),
        *(kind(**later, why="too much").caused_by("x", "validation") for kind in told),
    )
    assert says in (await (await Browser(run).enter()).page("/runs/r1")).text


async def test_what_no_page_is_at_is_told_in_a_sentence_with_code_as_code(browser):
    answer = await browser.get("/runs/nobody")
    assert "<h1>No run" in answer.text
    assert "<code>tocsin run list</code> shows the newest runs." in answer.text


async def test_a_hypothesis_is_rated_in_words(browser):
    answer = await browser.press("/runs/r1", "/runs/r1/rate", about="fix", useful="no", reason="x")
    assert answer.status_code == 303
    assert "ana found the fix ✕ wrong : x" in (await browser.page("/runs/r1")).text


@pytest.mark.parametrize("fields", [{"useful": "maybe"}, {"about": "weather", "useful": "yes"}, {}])
async def test_a_rating_that_says_nothing_is_refused(browser, fields):
    form = (await browser.page("/runs/r1")).forms["/runs/r1/rate"]
    answer = await browser.post("/runs/r1/rate", **(form | {"about": "fix"} | fields))
    assert answer.status_code == 422
    assert browser.outcomes.said == {}


async def test_what_became_of_runs_is_told_by_source(browser):
    page = await browser.page("/cost")
    assert "What became of 1 run" in page.text
    assert "alertmanager 1 100 % none none 4 min none unknown" in page.text


async def test_no_page_hides_behind_what_every_service_answers(browser):
    taken = {"/live", "/ready", "/metrics", "/openapi.json"}
    assert taken & {route.path for route in browser.console.routes} == set()


async def test_evidence_that_nothing_rests_on_is_folded_away():
    seen = (build.evidence(), build.evidence(id="e2", query="another pod"))
    why = build.hypothesis(evidence=seen)
    run = build.run(build.alert_accepted(), build.hypothesis_formed(hypothesis=why))
    text = (await (await Browser(run).enter()).get("/runs/r1")).text
    assert "1 more that was looked at, and is not cited" in text
    assert text.index('id="ev-e1"') < text.index('id="rest"') < text.index('id="ev-e2"')
