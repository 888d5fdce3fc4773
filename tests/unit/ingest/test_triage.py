"""Triage of new runs, from the accepted alert to what is said about it."""

from datetime import timedelta

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_contracts import (
    AlertSuppressed,
    EndReason,
    IncidentOpened,
    RunFinished,
    RunState,
    RunSuperseded,
    Severity,
    StormEnded,
    StormRoot,
    StormStarted,
    SuppressionKind,
)
from tocsin_ingest import graph
from tocsin_ingest.handlers import Handlers
from tocsin_ingest.judge import Judge
from tocsin_ingest.nodes import Nodes
from tocsin_ingest.ports import Crowd, SilencesRead
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.triage.rules import Rules
from tocsin_ingest.triage.silences import Silence
from tocsin_kit.clock import millis
from tocsin_kit.errors import TransientError
from tocsin_kit.graphs import Subgraph
from tocsin_kit.storms import Digest, Look
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.crowd import FakeJoined, FakeOpenRuns, FakeStorms, FakeTickets
from tocsin_testing.fakes import (
    FakeClock,
    FakeIntake,
    FakePublisher,
    FakeRuns,
    FakeTallies,
    outage,
)
from tocsin_testing.gate import FakeTimers

SPAN = {"start": NOW - timedelta(minutes=5), "end": NOW + timedelta(minutes=5), "by": "u-17"}
ABOUT_X = {"name": "w", "matchers": ["alertname=X"], **SPAN}
NODE = {"node": "n1"}


class RemoteSilences:
    def __init__(self, *silences, problem=""):
        self.answer = SilencesRead(tuple(silences), problem)

    async def read(self):
        return self.answer


class Desk:
    """Triage by some rules, with what it looks at in memory."""

    def __init__(self, remote=None, threshold=100, **rules):
        self.rules = Rules.model_validate(rules)
        self.judge = Judge(["Watchdog"], self.rules, remote)
        self.runs, self.intake, self.clock = FakeRuns(), FakeIntake(), FakeClock()
        self.storms, self.tickets = FakeStorms(threshold), FakeTickets()
        self.timers = FakeTimers()
        self.tallies, self.publisher = FakeTallies(), FakePublisher()
        self.crowd = Crowd(
            reader=self.runs,
            open_runs=FakeOpenRuns(),
            storms=self.storms,
            tickets=self.tickets,
            joined=FakeJoined(),
            tallies=self.tallies,
            timers=self.timers,
            publisher=self.publisher,
        )
        self.saver = InMemorySaver()
        self.handlers = self.worker()

    def worker(self):
        nodes = Nodes(self.judge, self.rules, self.crowd)
        return Handlers(
            Subgraph("ingest", graph.build(nodes), self.saver),
            Receiver(self.intake, self.runs),
            self.runs,
            judge=self.judge,
            rules=self.rules,
            crowd=self.crowd,
            clock=self.clock,
        )

    async def accept(self, run_id=RUN, seconds=0, **alert):
        event = build.alert_accepted(
            run_id=run_id,
            at=NOW + timedelta(seconds=seconds),
            incident_key=f"key of {run_id}",
            alert=build.alert(**({"labels": {"alertname": "X"}} | alert)),
        )
        answer = await self.handlers.on_alert_accepted(event)
        self.runs.runs[run_id] = build.run(event, *answer)
        return list(answer)

    async def finish(self, run_id):
        run = self.runs.runs[run_id]
        ended = run.fact(RunFinished) or build.run_finished(run_id=run_id, at=NOW)
        self.runs.runs[run_id] = build.run(*run.facts.values(), ended)
        await self.handlers.on_run_finished(ended)


async def test_what_every_step_found_stands_on_the_incident_in_words():
    (opened,) = await Desk().accept()
    assert opened.decisions == (
        "No silence holds.",
        "No maintenance window is open.",
        "No change freeze holds.",
        "No open run seems to have the same cause.",
        "There is no storm.",
        "No route names it.",
    )


@pytest.mark.parametrize(
    ("rules", "kind"),
    [
        ({"silences": [ABOUT_X]}, SuppressionKind.SILENCE),
        ({"maintenance": [ABOUT_X]}, SuppressionKind.MAINTENANCE),
    ],
)
async def test_p4_an_alert_that_is_held_back_ends_its_run_with_the_reason(rules, kind):
    suppressed, ended = await Desk(**rules).accept()
    assert isinstance(suppressed, AlertSuppressed)
    assert (suppressed.kind, suppressed.by, suppressed.until) == (kind, "u-17", SPAN["end"])
    assert (ended.outcome, ended.reason) == (RunState.SUPPRESSED, EndReason.SUPPRESSED_BY_RULE)
    assert suppressed.rule in ended.sentence
    assert suppressed.rule in suppressed.decisions[-1]


async def test_d03_before_its_start_a_window_holds_nothing_back():
    desk = Desk(maintenance=[ABOUT_X])
    (opened,) = await desk.accept("r1", seconds=-301)
    assert isinstance(opened, IncidentOpened)
    held, _ = await desk.accept("r2", seconds=-300)
    assert isinstance(held, AlertSuppressed)


async def test_d13_the_incident_of_a_silenced_alert_reopens_when_the_silence_ends():
    desk = Desk(silences=[ABOUT_X])
    await desk.accept()
    await desk.finish(RUN)
    assert desk.intake.reopening == {RUN: SPAN["end"]}  # the silence of the past is over


async def test_an_alert_whose_title_says_nothing_is_wrong_stays_suppressed_for_its_episode():
    desk = Desk()
    await desk.accept(title="Watchdog")
    await desk.finish(RUN)
    assert desk.intake.reopening == {RUN: None}


async def test_a_repeat_of_a_silenced_alert_opens_a_run_once_nothing_holds_it_back_any_more():
    desk = Desk(silences=[ABOUT_X])
    await desk.accept()
    repeated = build.alert_repeated(alert=build.alert(labels={"alertname": "X"}))
    await desk.handlers.on_alert_repeated(repeated)
    assert desk.intake.told == []
    desk.clock.advance(300)
    await desk.handlers.on_alert_repeated(repeated)
    assert [type(event).__name__ for event in desk.intake.told] == ["AlertAccepted"]


async def test_a_silence_of_alertmanager_holds_as_our_own():
    remote = RemoteSilences(Silence.model_validate({**ABOUT_X, "name": "8f2"}))
    suppressed, _ = await Desk(remote).accept()
    assert suppressed.rule.startswith("silence '8f2' by u-17")


async def test_an_alertmanager_that_does_not_answer_holds_nothing_back_and_that_is_said():
    remote = RemoteSilences(problem="those of Alertmanager could not be read (ConnectError)")
    (opened,) = await Desk(remote).accept()
    assert opened.decisions[0] == (
        "No silence holds; those of Alertmanager could not be read (ConnectError)."
    )


async def test_in_a_change_freeze_an_incident_is_investigated_and_nothing_may_approve_by_itself():
    freeze = {"name": "year end", **SPAN}
    (opened,) = await Desk(freezes=[freeze], routes=[{"auto_approve": "low"}]).accept()
    assert "change freeze 'year end' by u-17 holds until" in opened.freeze
    assert opened.auto_approve == ""


async def test_an_incident_says_whose_it_is():
    routes = [
        {"matchers": ["alertname=X"], "team": "payments"},
        {"environment": "production", "auto_approve": "low"},
    ]
    (opened,) = await Desk(routes=routes).accept()
    assert (opened.team, opened.environment, opened.auto_approve) == (
        "payments",
        "production",
        "low",
    )
    assert "team payments, environment production, rule low" in opened.decisions[-1]


async def test_in_shadow_mode_a_related_run_is_noted_and_nothing_else_changes():
    desk = Desk()
    await desk.accept("r1", labels=NODE)
    (opened,) = await desk.accept("r2", seconds=10, labels=NODE)
    assert isinstance(opened, IncidentOpened)
    assert (opened.related.into, opened.related.threshold) == ("r1", 0.6)
    assert {part.name for part in opened.related.parts} == {"topology", "time", "text"}
    assert opened.decisions[3].startswith("Only noted: run r1 may have the same cause")


async def test_p4_switched_on_the_older_run_looks_after_a_related_one():
    desk = Desk(correlation={"mode": "on"})
    await desk.accept("r1", labels=NODE)
    superseded, ended = await desk.accept("r2", seconds=10, labels=NODE)
    assert isinstance(superseded, RunSuperseded)
    assert (superseded.into, superseded.correlation.into) == ("r1", "r1")
    assert (ended.outcome, ended.reason) == (RunState.SUPERSEDED, EndReason.SUPERSEDED_BY_RUN)
    assert "Run r1 looks after it" in ended.sentence


@pytest.mark.parametrize("tidied", [True, False])
async def test_a_run_that_has_ended_takes_nobody_in(tidied):
    desk = Desk(correlation={"mode": "on"})
    await desk.accept("r1", labels=NODE)
    desk.runs.runs["r1"] = build.run(build.run_finished(run_id="r1"))
    if tidied:
        await desk.accept("r1", labels=NODE)
        await desk.finish("r1")
    (opened,) = await desk.accept("r2", seconds=10, labels=NODE)
    assert isinstance(opened, IncidentOpened)


async def test_a_superseded_alert_that_still_fires_gets_its_own_run_when_the_other_one_ends():
    desk = Desk(correlation={"mode": "on"})
    await desk.accept("r1", labels=NODE)
    await desk.accept("r2", seconds=10, labels=NODE)
    repeated = build.alert_repeated(run_id="r2", alert=build.alert(labels=NODE))
    await desk.handlers.on_alert_repeated(repeated)
    assert desk.intake.told == []
    await desk.finish("r1")
    await desk.handlers.on_alert_repeated(repeated)
    assert [type(event).__name__ for event in desk.intake.told] == ["AlertAccepted"]


@pytest.mark.parametrize("first", ["r1", "r2"])
async def test_a_superseded_episode_may_open_a_run_again_once_the_other_run_has_ended(first):
    desk = Desk(correlation={"mode": "on"})
    await desk.accept("r1", labels=NODE)
    await desk.accept("r2", seconds=10, labels=NODE)
    await desk.finish(first)
    assert desk.intake.reopening == ({"r1": None} if first == "r1" else {"r2": None})
    await desk.finish("r2" if first == "r1" else "r1")
    ended = desk.runs.runs["r1"].fact(RunFinished).at
    assert desk.intake.reopening["r2"] >= ended


async def test_an_alert_that_joined_a_silenced_run_and_is_not_silenced_gets_its_own():
    desk = Desk(silences=[ABOUT_X])
    await desk.accept()
    other = build.alert_repeated(alert=build.alert(fingerprint="y", labels={"alertname": "Y"}))
    desk.runs.runs[RUN] = build.run(other, *desk.runs.runs[RUN].facts.values())
    await desk.finish(RUN)
    (told,) = desk.intake.told
    assert told.alert.fingerprint == "y"


async def test_an_alert_that_is_held_back_for_long_is_judged_anew_meanwhile():
    desk = Desk(silences=[ABOUT_X | {"end": NOW + timedelta(days=3650)}])
    await desk.accept()
    ended = desk.runs.runs[RUN].fact(RunFinished).at
    await desk.finish(RUN)
    assert desk.intake.reopening == {RUN: ended + timedelta(minutes=30)}


async def test_in_a_storm_one_run_stands_for_each_root():
    desk = Desk(threshold=2, correlation={"mode": "off"})
    answers = [await desk.accept(f"r{n}", labels={"node": f"n{n % 2}"}) for n in range(7)]
    opened = [e for answer in answers for e in answer if isinstance(e, IncidentOpened)]
    assert [(e.run_id, e.storm) for e in opened] == [
        ("r0", ""),
        ("r1", ""),
        ("r2", "r2"),
        ("r3", "r2"),
    ]
    merged = [e for answer in answers for e in answer if isinstance(e, RunSuperseded)]
    assert [(e.run_id, e.into) for e in merged] == [("r4", "r2"), ("r5", "r3"), ("r6", "r2")]
    assert all(e.storm == "r2" and "there is a storm" in e.why for e in merged)


async def test_the_run_that_makes_a_storm_lets_people_know_at_once_and_once():
    desk = Desk(threshold=1)
    for number in range(4):
        await desk.accept(f"r{number}", labels=NODE)
    (timer,) = desk.timers.set
    assert (timer.kind, timer.about, timer.due_at) == (TimerKind.STORM_LOOK, "r1", NOW)


async def test_the_first_look_at_a_storm_tells_of_it_and_the_later_ones_do_not():
    desk = Desk()
    desk.storms.sight = Look(goes_on=True, digest=None, new_runs=101, started_at=NOW)
    started = await desk.handlers.on_storm_due(storm_timer())
    assert isinstance(started, StormStarted)
    assert (started.storm, started.new_runs, started.window_seconds) == (RUN, 101, 60)
    assert await desk.handlers.on_storm_due(desk.timers.set[0]) is None


async def test_in_a_storm_a_leader_that_has_ended_is_replaced():
    desk = Desk(threshold=0, correlation={"mode": "off"})
    await desk.accept("r1", labels=NODE)
    await desk.finish("r1")
    (opened,) = await desk.accept("r2", labels=NODE)
    assert (type(opened), opened.storm) == (IncidentOpened, "r1")


def storm_timer(**changes):
    fields = {"kind": TimerKind.STORM_LOOK, "run_id": RUN, "due_at": NOW, "about": RUN}
    return Timer(**(fields | changes))


async def test_a_storm_that_goes_on_is_looked_at_later_and_the_same_look_twice_is_one():
    desk = Desk()
    desk.clock.advance(130)
    assert await desk.handlers.on_storm_due(storm_timer()) is None
    assert await desk.handlers.on_storm_due(storm_timer()) is None
    assert [timer.due_at for timer in desk.timers.set] == [NOW + timedelta(seconds=180)]


async def test_the_end_of_a_storm_tells_what_it_was_made_of():
    desk = Desk()
    roots = (StormRoot(root="node n1", runs=120, leader="r1"),)
    digest = Digest(since=millis(NOW), runs=130, roots=roots, more=3)
    desk.storms.sight = Look(goes_on=False, digest=digest)
    ended = await desk.handlers.on_storm_due(storm_timer())
    assert isinstance(ended, StormEnded)
    assert (ended.new_runs, ended.roots, ended.more_roots, ended.started_at) == (130, roots, 3, NOW)


async def test_a_storm_that_nobody_remembers_tells_nothing():
    desk = Desk()
    desk.storms.sight = Look(goes_on=False, digest=None)
    assert await desk.handlers.on_storm_due(storm_timer()) is None
    assert desk.timers.set == []


async def test_p1_a_run_whose_turn_has_not_come_waits_and_decides_nothing_twice():
    desk = Desk(threshold=0)
    desk.tickets.limit = 0
    with pytest.raises(TransientError, match="waits for its turn") as waiting:
        await desk.accept()
    assert 1 <= waiting.value.retry_in <= 10
    desk.tickets.limit, desk.storms.down = 1, outage()  # it is not asked again
    desk.handlers = desk.worker()
    (opened,) = await desk.accept()
    assert (type(opened), len(opened.decisions)) == (IncidentOpened, 6)


async def test_a_run_asks_for_its_turn_by_severity_and_sender():
    desk = Desk()
    await desk.accept(severity=Severity.CRITICAL, source="grafana", instance="eu")
    assert desk.tickets.held == {RUN: (1, "grafana/eu")}


async def test_a_run_that_ends_gives_back_its_turn():
    desk = Desk()
    await desk.accept()
    await desk.finish(RUN)
    assert desk.tickets.left == [RUN]


async def test_p5_triage_after_a_crash_goes_on_where_it_was():
    desk = Desk(correlation={"mode": "on"})
    desk.storms.down = outage()
    with pytest.raises(TransientError):
        await desk.accept()
    desk.storms.down, desk.handlers = None, desk.worker()
    (opened,) = await desk.accept()
    assert len(opened.decisions) == 6
