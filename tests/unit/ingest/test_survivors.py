"""A run that was superseded: the open one that looks after it hears what becomes of its alerts."""

from itertools import pairwise

import pytest

from tocsin_contracts import AlertStatus, Novelty, RunState, Severity
from tocsin_ingest.endings.survivors import MOST_HOPS, MOST_JOINED
from tocsin_ingest.handlers import Handlers
from tocsin_ingest.judge import Judge
from tocsin_ingest.ports import Crowd
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.triage.rules import Rules
from tocsin_kit.tally import Tally
from tocsin_testing import build
from tocsin_testing.build import NOW
from tocsin_testing.crowd import FakeJoined, FakeOpenRuns, FakeStorms, FakeTickets
from tocsin_testing.fakes import FakeIntake, FakePublisher, FakeRuns, FakeTallies
from tocsin_testing.gate import FakeTimers

CLEARED = build.alert(fingerprint="f2", title="Late", status=AlertStatus.RESOLVED)


def tally(firing, occurrences=1, episodes=1):
    return Tally(
        first_seen=NOW,
        last_seen=NOW,
        occurrences=occurrences,
        episodes=episodes,
        firing=firing,
        resolved=0,
        severity=Severity.WARNING,
    )


def resolved(run_id="r2", still_firing=0):
    return build.alert_resolved(
        run_id=run_id, id="cleared", run_version=7, alert=CLEARED, still_firing=still_firing
    )


def repeated(novelty, run_id="r2"):
    return build.alert_repeated(run_id=run_id, id="again", novelty=novelty, occurrences=9)


class World:
    """Runs that were superseded by each other, and the handlers that hear of their alerts."""

    def __init__(self):
        self.runs, self.intake = FakeRuns(), FakeIntake()
        self.joined, self.tallies, self.bus = FakeJoined(), FakeTallies(), FakePublisher()
        crowd = Crowd(
            reader=self.runs,
            open_runs=FakeOpenRuns(),
            storms=FakeStorms(),
            tickets=FakeTickets(),
            joined=self.joined,
            tallies=self.tallies,
            timers=FakeTimers(),
            publisher=self.bus,
        )
        rules = Rules()
        self.handlers = Handlers(
            None,
            Receiver(self.intake, self.runs),
            self.runs,
            judge=Judge([], rules),
            rules=rules,
            crowd=crowd,
        )

    def opens(self, run_id, *facts, firing=1):
        accepted = build.alert_accepted(run_id=run_id, incident_key=f"key of {run_id}")
        self.runs.runs[run_id] = build.run(accepted, *facts)
        self.tallies.tallies[run_id] = tally(firing, occurrences=3, episodes=2)

    def supersedes(self, into, run_id, *facts, firing=0):
        merged = build.run_superseded(run_id=run_id, into=into, why="both on node n1")
        ended = build.run_finished(run_id=run_id, outcome=RunState.SUPERSEDED)
        self.opens(run_id, *facts, merged, ended, firing=firing)

    async def finish(self, run_id):
        ended = build.run_finished(run_id=run_id)
        facts = self.runs.runs[run_id].facts.values()
        self.runs.runs[run_id] = build.run(*facts, ended)
        await self.handlers.on_run_finished(ended)


@pytest.fixture
def world():
    world = World()
    world.opens("r1")
    world.supersedes("r1", "r2")
    return world


async def test_p1_the_end_of_a_superseded_alert_reaches_the_run_that_looks_after_it(world):
    await world.handlers.on_alert_resolved(resolved())
    (told,) = world.bus.published
    assert (told.topic, told.run_id, told.alert) == ("alert.resolved.v1", "r1", CLEARED)
    assert (told.cause, told.producer, told.still_firing) == ("cleared", "ingest", 1)
    assert told.run_version == 0, "the versions of one run say nothing to another"


async def test_p5_the_same_end_told_twice_is_told_on_once(world):
    await world.handlers.on_alert_resolved(resolved())
    await world.handlers.on_alert_resolved(resolved())
    await world.finish("r2")
    assert len(world.bus.published) == 1


@pytest.mark.parametrize(
    ("own", "other", "still_firing"), [(0, 0, 0), (1, 0, 1), (0, 1, 1), (2, 3, 5)]
)
async def test_a_run_is_told_that_all_is_clear_only_when_all_it_looks_after_is(
    world, own, other, still_firing
):
    world.opens("r1", firing=own)
    world.supersedes("r1", "r3", firing=other)
    await world.joined.add("r1", "r3", "key of r3")
    await world.handlers.on_alert_resolved(resolved())
    assert world.bus.published[0].still_firing == still_firing


async def test_what_nothing_is_known_of_may_still_fire(world):
    world.opens("r1", firing=0)
    world.tallies.tallies.pop("r2")
    await world.handlers.on_alert_resolved(resolved())
    assert world.bus.published[0].still_firing == 1


@pytest.mark.parametrize("novelty", list(Novelty))
async def test_a_repeat_is_told_on_if_it_has_news(world, novelty):
    await world.handlers.on_alert_repeated(repeated(novelty))
    expected = [] if novelty is Novelty.NOTHING else [("r1", novelty, 3, 2)]
    assert [
        (told.run_id, told.novelty, told.occurrences, told.episodes) for told in world.bus.published
    ] == expected


@pytest.mark.parametrize("length", [1, 2, MOST_HOPS, MOST_HOPS + 1])
async def test_a_chain_of_superseded_runs_leads_to_the_open_one_unless_it_is_too_long(length):
    world = World()
    world.opens("open")
    names = [*(f"r{n}" for n in range(length)), "open"]
    for run_id, into in pairwise(names):
        world.supersedes(into, run_id)
    await world.handlers.on_alert_resolved(resolved("r0"))
    told = [event.run_id for event in world.bus.published]
    assert told == (["open"] if length <= MOST_HOPS else [])


async def test_runs_that_superseded_each_other_tell_nobody():
    world = World()
    world.supersedes("r2", "r1")
    world.supersedes("r1", "r2")
    await world.handlers.on_alert_resolved(resolved())
    assert world.bus.published == []


async def test_a_run_that_looks_after_itself_hears_its_own_news_once(world):
    await world.handlers.on_alert_resolved(resolved("r1"))
    await world.handlers.on_alert_repeated(repeated(Novelty.ALERT, "r1"))
    assert world.bus.published == []


async def test_a_run_that_has_ended_or_is_forgotten_is_told_nothing(world):
    await world.finish("r1")
    await world.handlers.on_alert_resolved(resolved())
    world.runs.runs.pop("r1")
    await world.handlers.on_alert_resolved(resolved())
    assert world.bus.published == []


async def test_a_run_that_stands_for_a_storm_is_not_told_of_each(world):
    for number in range(MOST_JOINED):
        await world.joined.add("r1", f"s{number}", f"key of s{number}")
    await world.handlers.on_alert_resolved(resolved())
    assert len(world.bus.published) == 1
    await world.joined.add("r1", "one-more", "key of it")
    await world.handlers.on_alert_resolved(resolved())
    await world.handlers.on_alert_repeated(repeated(Novelty.ALERT))
    assert len(world.bus.published) == 1


@pytest.mark.parametrize("fact", [resolved(), repeated(Novelty.ALERT)], ids=["end", "repeat"])
async def test_p1_what_was_told_before_the_run_was_superseded_is_told_on_when_it_ends(fact):
    world = World()
    world.opens("r1")
    world.supersedes("r1", "r2", fact)
    await world.finish("r2")
    assert [(told.run_id, told.cause) for told in world.bus.published] == [("r1", fact.id)]


async def test_a_run_that_is_superseded_itself_hands_on_those_it_looked_after(world):
    world.opens("r0")
    await world.finish("r2")
    assert world.joined.joined == {"r1": {"r2": "key of r2"}}
    world.supersedes("r0", "r1")
    await world.finish("r1")
    assert world.joined.joined["r0"] == {"r1": "key of r1", "r2": "key of r2"}
    assert world.intake.reopening == {"r2": None, "r1": None}
    again = repeated(Novelty.NOTHING)
    await world.handlers.on_alert_repeated(again)
    assert world.intake.told == [], "somebody still looks after it"

    await world.finish("r0")
    assert all(world.intake.reopening[run_id] for run_id in ("r1", "r2"))
