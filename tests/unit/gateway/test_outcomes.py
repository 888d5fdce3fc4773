"""Outcomes: a row from facts, figures from rows, and each happening counted once."""

from datetime import timedelta
from decimal import Decimal

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client import REGISTRY
from pydantic import SecretStr

from tocsin_contracts import ModelUse, RunState
from tocsin_contracts.outcomes import PlanAnswer, Rateable, Rated, RatingView, RunOutcome
from tocsin_contracts.roles import Role
from tocsin_gateway import refusals
from tocsin_gateway.access import Access
from tocsin_gateway.guard import Guard
from tocsin_gateway.outcomes import routes
from tocsin_gateway.outcomes.handlers import OutcomeHandlers
from tocsin_gateway.outcomes.rows import row
from tocsin_gateway.outcomes.totals import by_source, spread, total
from tocsin_kit.outcomes import Judged, Kept
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import FakeClock, FakePublisher, FakeRuns

LATER = NOW + timedelta(minutes=10)
ASKED = build.approval_requested(at=NOW)
GRANTED = build.approval_granted(at=LATER)
MERGED = build.pull_request_merged(at=LATER + timedelta(minutes=1))
UNDO = build.plan(edits=(build.plan().edits[0].model_copy(update={"undo_of": "a" * 40}),))
UNDO_ASKED = build.approval_requested(at=LATER + timedelta(minutes=2), plan=UNDO)
UNDO_DENIED = build.approval_denied(at=LATER + timedelta(minutes=3))
UNDO_MERGED = build.pull_request_merged(at=LATER + timedelta(minutes=4), url="https://x/2")
ENDED = build.run_finished(at=LATER + timedelta(hours=1), outcome=RunState.RESOLVED)


def told(*facts):
    """Return a run in whose record these facts are, also several of a kind."""
    return build.run(*facts, past=facts)


def outcome(number=1, **known):
    fields = {"run_id": f"r{number}", "version": 1, "source": "grafana", "began_at": NOW}
    return RunOutcome(**{**fields, **known})


def metric(name, **labels):
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_a_run_that_just_began_has_nothing_to_tell():
    found = row(build.run(build.alert_accepted()))
    assert (found.answer, found.outcome, found.opened, found.merged) == (None, None, False, False)
    assert (found.source, found.cost) == (build.alert().source, Decimal(0))


def test_the_time_that_people_took_is_from_the_request_to_the_answer():
    found = row(told(build.alert_accepted(), ASKED, GRANTED))
    assert (found.answer, found.seconds_to_answer) == (PlanAnswer.GRANTED, 600)


def test_what_expired_was_answered_by_nobody_and_took_no_time():
    found = row(told(ASKED, build.approval_expired(at=LATER)))
    assert (found.answer, found.seconds_to_answer) == (PlanAnswer.EXPIRED, None)


def test_a_merged_undo_reverts_the_fix_and_changes_no_answer():
    facts = (build.alert_accepted(), ASKED, GRANTED, build.pull_request_opened(), MERGED)
    found = row(told(*facts, UNDO_ASKED, UNDO_MERGED))
    assert (found.merged, found.reverted, found.answer) == (True, True, PlanAnswer.GRANTED)
    denied = row(told(*facts, UNDO_ASKED, UNDO_DENIED))
    assert (denied.merged, denied.reverted, denied.answer) == (True, False, PlanAnswer.GRANTED)


def test_the_time_to_a_fix_ends_when_it_is_verified():
    verified = build.fix_verified(at=NOW + timedelta(hours=2))
    assert row(told(build.alert_accepted(), verified)).seconds_to_fix == 7200


def test_a_cost_that_nobody_knows_is_null_and_not_zero():
    use = ModelUse(cost=None)
    found = row(build.run(build.alert_accepted(), build.hypothesis_formed(model_use=use)))
    assert found.cost is None
    figures = total([Judged(found), Judged(outcome(cost=Decimal("0.5")))])
    assert (figures.cost, figures.cost_unknown, figures.cost_per_run) == (
        Decimal("0.5"),
        1,
        Decimal("0.5"),
    )


def test_a_rate_of_nothing_is_null():
    empty = total([])
    assert (empty.acceptance, empty.merge_rate, empty.revert_rate, empty.cost_per_run) == (
        None,
        None,
        None,
        None,
    )


def test_rates_are_of_what_they_say():
    rows = [
        outcome(1, answer="granted", opened=True, merged=True, reverted=True, outcome="resolved"),
        outcome(2, answer="granted", opened=True, outcome="pr_closed"),
        outcome(3, answer="denied", outcome="rejected", source="alertmanager"),
        outcome(4, answer="expired"),
    ]
    figures = total([Judged(one) for one in rows])
    assert (figures.acceptance, figures.merge_rate, figures.revert_rate) == (0.5, 0.5, 1.0)
    assert figures.ended == {"resolved": 1, "pr_closed": 1, "rejected": 1}
    assert {name: one.runs for name, one in by_source([Judged(one) for one in rows]).items()} == {
        "alertmanager": 1,
        "grafana": 3,
    }


def test_durations_have_a_median_and_a_ninth_tenth():
    assert spread([None]).model_dump() == {"count": 0, "median": None, "p90": None}
    assert spread([5, None]).median == 5
    assert spread(range(101)).model_dump() == {"count": 101, "median": 50, "p90": 90}


class Records:
    """Keeps the newest row, and the newest rating of a person, in memory."""

    def __init__(self):
        self.row = None
        self.said = []

    async def keep(self, row):
        before, newest = self.row, self.row is None or row.version > self.row.version
        self.row = row if newest else before
        return Kept(newest, before)

    async def rate(self, rating):
        self.said.append(rating)
        return True

    async def ratings(self, run_id):
        return tuple(self.said)

    async def since(self, at):
        return [Judged(self.row, tuple(self.said))] if self.row else []


async def test_each_happening_is_counted_once_however_often_it_is_told():
    facts = [build.alert_accepted(), ASKED, GRANTED, build.pull_request_opened(), MERGED, ENDED]
    runs = FakeRuns(told(*facts))
    handlers = OutcomeHandlers(runs, Records())
    source = build.alert().source
    before = metric("tocsin_fixes_merged_total")
    ended = metric("tocsin_runs_ended_total", source=source, outcome="resolved")
    for _ in range(3):
        await handlers.on_news(ENDED)
    assert metric("tocsin_fixes_merged_total") == before + 1
    assert metric("tocsin_runs_ended_total", source=source, outcome="resolved") == ended + 1


async def test_what_happens_later_is_counted_when_it_happens():
    records, runs = Records(), FakeRuns(told(build.alert_accepted(), ASKED, GRANTED))
    handlers = OutcomeHandlers(runs, records)
    merged = metric("tocsin_fixes_merged_total")
    granted = metric("tocsin_plans_answered_total", answer="granted")
    await handlers.on_news(GRANTED)
    runs.runs[RUN] = told(build.alert_accepted(), ASKED, GRANTED, MERGED)
    await handlers.on_news(MERGED)
    assert metric("tocsin_fixes_merged_total") == merged + 1
    assert metric("tocsin_plans_answered_total", answer="granted") == granted + 1


async def test_a_run_that_is_not_kept_any_more_has_no_news():
    records = Records()
    await OutcomeHandlers(FakeRuns(), records).on_news(ENDED)
    assert records.row is None


async def test_a_rating_is_kept_as_it_was_said():
    records = Records()
    said = Rated(run_id=RUN, by="ana", about=Rateable.FIX, useful=False, text="no", at=NOW)
    await OutcomeHandlers(FakeRuns(), records).on_rated(said)
    assert records.said == [
        RatingView(run_id=RUN, by="ana", about="fix", useful=False, text="no", at=NOW)
    ]


class Gateway:
    """The routes with a run that has a hypothesis and no plan."""

    def __init__(self):
        self.bus, self.records = FakePublisher(), Records()
        runs = FakeRuns(build.run(build.alert_accepted(), build.hypothesis_formed()))
        outcomes = routes.Outcomes(self.records, runs, self.bus, FakeClock())
        app = FastAPI()
        app.include_router(routes.routes(outcomes))
        tokens = {role.value: SecretStr(f"token-of-{role}") for role in Role}
        app.add_middleware(Guard, access=Access(tokens, {role.value: role for role in Role}))
        for error, answer in refusals.ANSWERS.items():
            app.add_exception_handler(error, answer)
        self._transport = httpx.ASGITransport(app)

    async def __call__(self, method, path, role=Role.OPERATOR, **body):
        headers = {"authorization": f"Bearer token-of-{role}"}
        async with httpx.AsyncClient(transport=self._transport, base_url="http://test") as client:
            return await client.request(
                method, f"/api/v1/{path}", headers=headers, json=body or None
            )


async def test_a_rating_becomes_an_event_of_whoever_asks():
    gateway = Gateway()
    answer = await gateway("POST", f"runs/{RUN}/ratings", about="hypothesis", useful=True)
    assert answer.status_code == 200
    (event,) = gateway.bus.published
    assert (event.by, event.about, event.useful, event.surface) == (
        "operator",
        Rateable.HYPOTHESIS,
        True,
        "gateway",
    )


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("runs/r9/ratings", {"about": "hypothesis", "useful": True}, 404),
        (f"runs/{RUN}/ratings", {"about": "fix", "useful": True}, 409),
        (f"runs/{RUN}/ratings", {"about": "weather", "useful": True}, 422),
        (f"runs/{RUN}/ratings", {"about": "fix", "useful": True, "by": "bo"}, 422),
    ],
)
async def test_what_cannot_be_rated_is_refused_and_told_to_nobody(path, body, status):
    gateway = Gateway()
    assert (await gateway("POST", path, **body)).status_code == status
    assert gateway.bus.published == []


async def test_viewers_read_outcomes_and_rate_nothing():
    gateway = Gateway()
    gateway.records.row = outcome(answer="granted")
    seen = (await gateway("GET", "outcomes?days=7", Role.VIEWER)).json()
    assert (seen["days"], seen["total"]["acceptance"], len(seen["runs"])) == (7, 1.0, 1)
    assert (await gateway("GET", f"runs/{RUN}/ratings", Role.VIEWER)).json() == {"ratings": []}
    refused = await gateway("POST", f"runs/{RUN}/ratings", Role.VIEWER, about="fix", useful=True)
    assert refused.status_code == 403
