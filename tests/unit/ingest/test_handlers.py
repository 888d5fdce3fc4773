"""Triage through its handlers: a new run is investigated, or ends by a rule."""

from datetime import timedelta

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr

from tocsin_contracts import AlertSuppressed, EndReason, IncidentOpened, RunFinished, RunState
from tocsin_ingest import graph
from tocsin_ingest.handlers import Handlers
from tocsin_ingest.judge import Judge
from tocsin_ingest.nodes import Nodes
from tocsin_ingest.ports import Crowd
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.settings import Settings
from tocsin_ingest.triage.rules import Rules
from tocsin_kit.errors import PermanentError
from tocsin_kit.graphs import Subgraph
from tocsin_testing import build
from tocsin_testing.build import RUN
from tocsin_testing.crowd import FakeJoined, FakeOpenRuns, FakeStorms, FakeTickets
from tocsin_testing.fakes import FakeIntake, FakePublisher, FakeRuns, FakeTallies
from tocsin_testing.gate import FakeTimers


@pytest.fixture
def intake():
    return FakeIntake()


def handlers(intake, *known, runs=None):
    store, rules = runs or FakeRuns(*known), Rules()
    judge = Judge(["Watchdog"], rules)
    crowd = Crowd(
        reader=store,
        open_runs=FakeOpenRuns(),
        storms=FakeStorms(),
        tickets=FakeTickets(),
        joined=FakeJoined(),
        tallies=FakeTallies(),
        timers=FakeTimers(),
        publisher=FakePublisher(),
    )
    triage = Subgraph("ingest", graph.build(Nodes(judge, rules, crowd)), InMemorySaver())
    return Handlers(triage, Receiver(intake, store), store, judge=judge, rules=rules, crowd=crowd)


async def test_a_new_run_is_investigated(intake):
    accepted = build.alert_accepted()
    (opened,) = await handlers(intake).on_alert_accepted(accepted)
    assert isinstance(opened, IncidentOpened)
    assert (opened.run_id, opened.alert) == (RUN, accepted.alert)


async def test_p4_an_alert_that_a_rule_suppresses_ends_its_run_with_the_rule(intake):
    accepted = build.alert_accepted(alert=build.alert(title="Watchdog"))
    suppressed, ended = await handlers(intake).on_alert_accepted(accepted)
    assert isinstance(suppressed, AlertSuppressed)
    assert isinstance(ended, RunFinished)
    assert (ended.outcome, ended.reason) == (RunState.SUPPRESSED, EndReason.SUPPRESSED_BY_RULE)
    assert suppressed.rule in ended.sentence


async def test_p5_triage_of_the_same_alert_twice_decides_the_same(intake):
    handled = handlers(intake)
    first = await handled.on_alert_accepted(build.alert_accepted())
    second = await handled.on_alert_accepted(build.alert_accepted())
    assert [event.model_dump(exclude={"at"}) for event in first] == [
        event.model_dump(exclude={"at"}) for event in second
    ]


async def test_p1_a_run_whose_receiver_died_before_making_its_record_gets_one(intake):
    runs, accepted = FakeRuns(), build.alert_accepted()
    await handlers(intake, runs=runs).on_alert_accepted(accepted)
    assert runs.created == [accepted]


async def test_a_repeat_changes_nothing(intake):
    assert await handlers(intake).on_alert_repeated(build.alert_repeated()) is None


async def test_the_end_of_a_run_closes_its_incident(intake):
    accepted, ended = build.alert_accepted(incident_key="workload|x"), build.run_finished()
    await handlers(intake, build.run(accepted, ended)).on_run_finished(ended)
    assert intake.closed == [("workload|x", RUN)]


async def test_an_end_that_its_run_knows_nothing_of_closes_nothing(intake):
    run = build.run(build.alert_accepted())
    await handlers(intake, run).on_run_finished(build.run_finished())
    assert intake.closed == []


async def test_an_alert_whose_sender_is_ahead_of_time_opens_no_run_over_and_over(intake):
    ended = build.run_finished()
    ahead = build.alert(starts_at=ended.at + timedelta(days=365))
    handled = handlers(intake, build.run(build.alert_accepted(), ended))
    await handled.on_alert_repeated(build.alert_repeated(alert=ahead))
    assert intake.told == []


async def test_the_end_of_a_run_without_a_record_closes_nothing(intake):
    await handlers(intake).on_run_finished(build.run_finished())
    assert intake.closed == []


def test_a_receiver_that_could_tell_nobody_from_a_stranger_does_not_start(monkeypatch):
    monkeypatch.delenv("TOCSIN_INGEST_TOKENS", raising=False)
    monkeypatch.delenv("TOCSIN_DEV", raising=False)
    with pytest.raises(PermanentError, match="set TOCSIN_INGEST_TOKENS"):
        Settings.load()
    assert Settings(dev=True).ingest_tokens == ()
    assert Settings(ingest_tokens=(SecretStr("a-token-of-16-ch"),)).dev is False


async def test_p1_an_alert_that_began_after_its_run_had_ended_gets_a_run_of_its_own(intake):
    ended = build.run_finished()
    late = build.alert(starts_at=ended.at + timedelta(seconds=1))
    repeated = build.alert_repeated(alert=late)
    handled = handlers(intake, build.run(build.alert_accepted(), ended))
    await handled.on_alert_repeated(repeated)
    assert [type(event).__name__ for event in intake.told] == ["AlertAccepted"]


async def test_an_alert_that_began_before_the_end_of_its_run_stays_with_it(intake):
    ended = build.run_finished()
    known = build.alert(starts_at=ended.at - timedelta(seconds=1))
    handled = handlers(intake, build.run(build.alert_accepted(), ended))
    await handled.on_alert_repeated(build.alert_repeated(alert=known))
    assert intake.told == []


def cleared_while_firing_again(seconds):
    """A run that ended because its alerts had cleared, and a firing some seconds after that."""
    cleared = build.alert_resolved()
    ended = build.run_finished(outcome=RunState.NO_CHANGE, reason=EndReason.ALERT_CLEARED)
    again = build.alert_repeated(at=cleared.at + timedelta(seconds=seconds))
    return build.alert_accepted(), cleared, ended, again


@pytest.mark.parametrize(("seconds", "opened"), [(-1, 0), (1, 1)])
async def test_p1_an_alert_that_fires_between_the_word_and_the_end_gets_a_run(
    intake, seconds, opened
):
    *facts, again = cleared_while_firing_again(seconds)
    await handlers(intake, build.run(*facts)).on_alert_repeated(again)
    assert len(intake.told) == opened


async def test_p1_it_gets_one_too_when_the_word_of_another_run_came_after_it(intake):
    accepted, _, ended, again = cleared_while_firing_again(1)
    told = build.alert_resolved(at=again.at + timedelta(seconds=1), still_firing=1)
    await handlers(intake, build.run(accepted, told, ended)).on_alert_repeated(again)
    assert len(intake.told) == 1


@pytest.mark.parametrize(("seconds", "opened"), [(-1, 0), (1, 1)])
async def test_p1_it_gets_one_too_when_its_news_came_before_the_end(intake, seconds, opened):
    accepted, cleared, ended, again = cleared_while_firing_again(seconds)
    handled = handlers(intake, build.run(accepted, cleared, again, ended))
    await handled.on_run_finished(ended)
    assert len(intake.told) == opened


async def test_a_no_that_holds_for_a_while_lets_the_same_alerts_open_a_run_after_it(intake):
    until = build.NOW + timedelta(hours=24)
    accepted, ended = build.alert_accepted(), build.run_finished(reopens_at=until)
    await handlers(intake, build.run(accepted, ended)).on_run_finished(ended)
    assert intake.reopening[RUN] == until
