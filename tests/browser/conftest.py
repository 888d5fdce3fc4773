"""A real headless Chromium before the real gateway, on loopback, with fakes behind it."""

import asyncio
import os
import shutil
import socket
import threading
from datetime import timedelta
from decimal import Decimal

import pytest
import uvicorn
from playwright.sync_api import expect, sync_playwright
from pydantic import SecretStr

from tocsin_contracts import CheckVerdict, EvidenceKind, ModelUse, Risk, Severity
from tocsin_contracts.roles import Role
from tocsin_gateway import api, application
from tocsin_gateway.access import Access
from tocsin_gateway.amendments import Amendments
from tocsin_gateway.console import site
from tocsin_gateway.console.books import Books
from tocsin_gateway.console.desk import Desk
from tocsin_gateway.console.sessions import Sessions
from tocsin_gateway.live.hub import Hub
from tocsin_kit.clock import SystemClock
from tocsin_testing import build, operating
from tocsin_testing.crowd import FakeLateNews
from tocsin_testing.fake_feed import FakeFeed
from tocsin_testing.fakes import FakePublisher, FakeRuns, FakeTallies
from tocsin_testing.gate import FakeApprovals
from tocsin_testing.operating import FakeLetters, FakeOperations, FakeOutcomes, FakeStatuses

TOKENS = {"ana": "token-of-ana-1234", "bo": "token-of-bo-12345"}
WAIT_MS = 5000
expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="module")
def chromium():
    """Return a running Chromium; one that is not installed is a failure where CI is set."""
    program = os.environ.get("TOCSIN_TEST_CHROMIUM") or shutil.which("chromium")
    if program is None:
        if "CI" in os.environ:
            pytest.fail("chromium is not installed: apt-get install chromium")
        pytest.skip("NOT TESTED in a browser: chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


class Gateway:
    """A gateway that serves on a port of its own, in a thread with a loop of its own."""

    def __init__(self):
        self.clock = SystemClock()
        self.now = self.clock.now()
        facts = _facts(self.now)
        self.runs = FakeRuns(*_runs(self.now))
        self.approvals = FakeApprovals(self.clock, *_approvals(self.now))
        self.feed = FakeFeed(*facts)
        self.statuses, self.letters = FakeStatuses(), FakeLetters(*map(operating.letter, (7, 9)))
        self.operations, self.outcomes = FakeOperations(), FakeOutcomes()
        self.bus = FakePublisher()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._thread.start()
        assert self._ready.wait(10), "the gateway did not start"

    async def _serve(self):
        hub, books = Hub(self.feed), Books(self.feed)
        self._loop = asyncio.get_running_loop()
        reading = [asyncio.create_task(one.run()) for one in (hub, books)]
        self._server = uvicorn.Server(
            uvicorn.Config(self._app(hub, books), log_level="error", lifespan="off")
        )
        self._loop.call_later(0.1, self._ready.set)
        await self._server.serve(sockets=[self._socket])
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)

    def _app(self, hub, books):
        tokens = {who: SecretStr(token) for who, token in TOKENS.items()}
        access = Access(tokens, {"ana": Role.APPROVER, "bo": Role.VIEWER})
        tallies, news = FakeTallies(), FakeLateNews()
        routes = api.Api(self.runs, self.approvals, self.runs, self.bus, tallies=tallies, news=news)
        console = site.console(
            routes,
            Desk(self.runs, self.approvals, tallies, news),
            Sessions(access, 12, self.clock),
            amendments=Amendments(self.runs, self.approvals, self.bus),
            hub=hub,
            books=books,
            statuses=self.statuses,
            letters=self.letters,
            operations=self.operations,
            outcomes=self.outcomes,
            clock=self.clock,
        )
        return site.beside(application.build(routes, hub, access), console)

    def tell(self, *events):
        """Let facts happen."""
        asyncio.run_coroutine_threadsafe(self.feed.add(*events), self._loop).result(5)

    def stop(self):
        """End the server, and every stream that it still serves."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)


@pytest.fixture
def gateway():
    """Return a gateway of the test's own."""
    served = Gateway()
    yield served
    served.stop()


@pytest.fixture
def enter(chromium, gateway):
    """Return what opens a page for somebody who has signed in."""
    contexts = []

    def entered(path="/", who="ana", **options):
        options = {"viewport": {"width": 1280, "height": 900}} | options
        context = chromium.new_context(base_url=gateway.address, **options)
        context.set_default_timeout(WAIT_MS)
        contexts.append(context)
        page = context.new_page()
        page.goto(f"/login?next={path}")
        page.get_by_label("Token").fill(TOKENS[who])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(gateway.address + "/**")
        if not page.url.endswith(path):
            page.goto(path)
        return page

    yield entered
    for context in contexts:
        context.close()


def _plan(run_id="r1", **changes):
    checks = (
        build.check(check="policy", detail="The field may be changed, 256Mi is within its bounds."),
        build.check(check="schema", detail="The manifest is valid for Kubernetes 1.33."),
        build.check(
            check="autoscaler",
            verdict=CheckVerdict.UNKNOWN,
            detail="The autoscaler was not asked: no read access.",
            action="Grant get on horizontalpodautoscalers.",
        ),
    )
    fields = {
        "risk": Risk.MEDIUM,
        "checks": checks,
        "effects": (
            "Deployment payments/payments-api: the memory limit of container api becomes 256Mi.",
            "3 pods are replaced one after another.",
        ),
        "risk_reasons": ("The workload serves payments.", "One check could not tell."),
    }
    return build.plan(run_id=run_id, **(fields | changes))


def _hypothesis(now):
    seen = now - timedelta(minutes=132)
    return build.hypothesis(
        finding=build.finding(
            summary="Container api needs more memory than its limit of 128Mi.", confidence=0.92
        ),
        alternatives=(
            build.finding(summary="A leak since commit 9f31c2e.", confidence=0.3, evidence=("e2",)),
        ),
        disproof="The container dies although it uses far less than 128Mi.",
        evidence=(
            build.evidence(at=seen),
            build.evidence(
                id="e2",
                at=seen,
                kind=EvidenceKind.METRIC,
                source="prometheus",
                query="container_memory_working_set_bytes{container='api'}",
                excerpt="131.8 MB at 09:57, 133.9 MB at 09:58, no sample at 09:59",
            ),
        ),
    )


def _used(calls, cost):
    return ModelUse(models=("gpt-9",), model_calls=calls, tokens=calls * 1900, cost=Decimal(cost))


def _facts(now):
    """Return what has happened until now, in its order."""
    alert = build.alert(summary="Container api was killed: out of memory, 4 times in 10 minutes.")
    other = build.alert(title="HighErrorRate", severity=Severity.WARNING, source="datadog")
    third = build.alert(title="NodeDiskPressure", severity=Severity.WARNING)
    why, used = _hypothesis(now), {"producer": "rca"}

    def ago(minutes):
        return now - timedelta(minutes=minutes)

    drafted = {"alert": alert, "hypothesis": why, "plan": _plan()}
    second = {"alert": other, "hypothesis": why, "plan": _plan("r2", risk=Risk.LOW)}
    return (
        build.alert_accepted(run_id="r3", alert=third, at=ago(300), producer="ingest"),
        build.hypothesis_formed(
            run_id="r3", alert=third, at=ago(290), model_use=_used(9, "0.4130"), **used
        ),
        build.run_finished(run_id="r3", at=ago(180), producer="rca"),
        build.alert_accepted(alert=alert, at=ago(140), producer="ingest"),
        build.incident_opened(alert=alert, at=ago(139), producer="ingest"),
        build.hypothesis_formed(
            alert=alert, hypothesis=why, at=ago(131), model_use=_used(6, "0.2210"), **used
        ),
        build.plan_drafted(**drafted, at=ago(130), producer="validation"),
        build.approval_requested(**drafted, at=ago(129), expires_at=ago(-112), producer="action"),
        build.alert_accepted(run_id="r2", alert=other, at=ago(20), producer="ingest"),
        build.approval_requested(
            run_id="r2", **second, at=ago(8), expires_at=ago(-20), producer="action"
        ),
        build.approval_denied(
            run_id="r4", decision=build.decision(decided_at=ago(5), reason="a drill"), at=ago(5)
        ),
    )


def _runs(now):
    facts = _facts(now)
    return [
        build.run(
            *(fact for fact in facts if fact.run_id == name),
            created_at=next(fact.at for fact in facts if fact.run_id == name),
            updated_at=[fact.at for fact in facts if fact.run_id == name][-1],
        )
        for name in ("r1", "r2", "r3")
    ]


def _approvals(now):
    mine, theirs = _plan(), _plan("r2", risk=Risk.LOW)
    return (
        build.approval(plan_hash=mine.plan_hash, expires_at=now + timedelta(minutes=112)),
        build.approval(
            run_id="r2",
            plan_hash=theirs.plan_hash,
            expires_at=now + timedelta(minutes=20),
            approvers=("bo",),
        ),
    )
