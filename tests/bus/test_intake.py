"""The receiver's record: which run an alert belongs to, whatever is killed in between."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    AlertStatus,
    Novelty,
    Severity,
)
from tocsin_kit import intake, keys, store
from tocsin_kit.errors import TransientError
from tocsin_kit.intake import Intake, Outcome
from tocsin_kit.outbox import Outbox
from tocsin_kit.tally import Tallies
from tocsin_testing import build
from tocsin_testing.build import NOW
from tocsin_testing.fakes import FakeClock, FakePublisher, outage

pytestmark = pytest.mark.servers

INCIDENT = "workload|prod-eu-1|payments|payments-api"
OOM = build.alert(fingerprint="oom")
LATENCY = build.alert(fingerprint="latency", title="HighLatency")


class Receiver:
    """An intake with a bus that keeps what was published."""

    def __init__(self, client):
        self.bus = FakePublisher()
        self.clock = FakeClock()
        self.clock.advance(86_400)  # no start of these tests lies in the future
        self.outbox = Outbox(client, "ingest", intake.read, self.bus.publish, self.clock)
        self.intake = Intake(client, self.outbox, clock=self.clock)
        self.tallies = Tallies(client)

    async def receive(self, alert, incident=INCIDENT):
        admitted = await self.intake.admit(incident, alert)
        await self.intake.tell(admitted)
        return admitted

    async def tally(self, run_id, incident=INCIDENT):
        found = await self.tallies.one(incident, run_id)
        (same,) = await self.tallies.many([(incident, run_id)])
        assert replace(found, alert=None, members=()) == same
        return found

    @property
    def told(self):
        return [type(event) for event in self.bus.published]

    @property
    def novelties(self):
        repeated = [event for event in self.bus.published if isinstance(event, AlertRepeated)]
        return [event.novelty for event in repeated]


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def receiver(redis):
    return Receiver(redis)


def resolved(alert, **changes):
    return alert.model_copy(update={"status": AlertStatus.RESOLVED} | changes)


def restarted(alert, minutes=30):
    return alert.model_copy(update={"starts_at": NOW + timedelta(minutes=minutes)})


async def test_three_alerts_of_one_workload_are_one_run(receiver):
    third = build.alert(fingerprint="third")
    admitted = [await receiver.receive(alert) for alert in (OOM, LATENCY, third)]
    assert [one.outcome for one in admitted] == ["opened", "attached", "attached"]
    assert len({one.run_id for one in admitted}) == 1
    assert receiver.told == [AlertAccepted, AlertRepeated, AlertRepeated]
    assert [event.occurrences for event in receiver.bus.published[1:]] == [2, 3]


async def test_two_incidents_are_two_runs(receiver):
    one = await receiver.receive(OOM)
    other = await receiver.receive(LATENCY, "alert|alertmanager|latency")
    assert one.run_id != other.run_id
    assert receiver.told == [AlertAccepted, AlertAccepted]


async def test_every_delivery_counts_and_what_tells_nothing_new_is_not_told(receiver):
    opened = await receiver.receive(OOM)
    first = receiver.clock.now()
    for _ in range(3):
        receiver.clock.advance(1800)
        again = await receiver.receive(OOM)
        assert (again.outcome, again.run_id) == (Outcome.ATTACHED, opened.run_id)
    tally = await receiver.tally(opened.run_id)
    assert (tally.occurrences, tally.episodes, tally.firing, tally.resolved) == (4, 1, 1, 0)
    assert (tally.first_seen, tally.last_seen) == (first, receiver.clock.now())
    assert receiver.told == [AlertAccepted]


async def test_a_resolved_alert_never_opens_a_run(receiver):
    admitted = await receiver.receive(resolved(OOM))
    assert admitted == intake.Admission(Outcome.IGNORED, None, None)
    assert receiver.told == []


async def test_a_resolved_alert_says_how_many_of_its_siblings_still_fire(receiver):
    for alert in (OOM, LATENCY, resolved(OOM), resolved(LATENCY)):
        await receiver.receive(alert)
    cleared = [event for event in receiver.bus.published if isinstance(event, AlertResolved)]
    assert [event.still_firing for event in cleared] == [1, 0]


async def test_an_alert_that_resolves_twice_is_told_once(receiver):
    for alert in (OOM, resolved(OOM), resolved(OOM)):
        await receiver.receive(alert)
    assert receiver.told == [AlertAccepted, AlertResolved]


async def test_the_same_episode_after_its_run_ended_opens_nothing(receiver):
    opened = await receiver.receive(OOM)
    await receiver.intake.close(INCIDENT, opened.run_id)
    again = await receiver.receive(OOM)
    assert (again.outcome, again.run_id) == (Outcome.ATTACHED, opened.run_id)


async def test_a_later_start_after_the_run_ended_opens_a_new_run(receiver):
    first = await receiver.receive(OOM)
    await receiver.intake.close(INCIDENT, first.run_id)
    second = await receiver.receive(restarted(OOM))
    assert second.outcome is Outcome.OPENED
    assert second.run_id != first.run_id


async def test_a_later_start_while_the_run_is_open_belongs_to_it(receiver):
    first = await receiver.receive(OOM)
    second = await receiver.receive(restarted(OOM))
    assert (second.outcome, second.run_id) == (Outcome.ATTACHED, first.run_id)


async def test_p1_an_alert_that_outlives_its_run_never_opens_that_run_again(receiver):
    first = await receiver.receive(OOM)
    await receiver.intake.close(INCIDENT, first.run_id)
    second = await receiver.receive(LATENCY)
    await receiver.intake.close(INCIDENT, second.run_id)
    still_firing = await receiver.receive(OOM)
    assert (still_firing.outcome, still_firing.run_id) == (Outcome.ATTACHED, second.run_id)
    third = await receiver.receive(restarted(OOM))
    assert third.outcome is Outcome.OPENED
    assert third.run_id not in {first.run_id, second.run_id}


async def test_the_end_of_an_older_run_does_not_close_the_newer_one(receiver):
    first = await receiver.receive(OOM)
    await receiver.intake.close(INCIDENT, first.run_id)
    second = await receiver.receive(restarted(OOM))
    await receiver.intake.close(INCIDENT, first.run_id)
    again = await receiver.receive(restarted(OOM, minutes=60))
    assert (again.outcome, again.run_id) == (Outcome.ATTACHED, second.run_id)


async def test_a_new_run_counts_its_deliveries_from_the_start(receiver):
    first = await receiver.receive(OOM)
    await receiver.receive(OOM)
    await receiver.intake.close(INCIDENT, first.run_id)
    second = await receiver.receive(restarted(OOM))
    for _ in range(3):
        await receiver.receive(restarted(OOM))
    assert (await receiver.tally(second.run_id)).occurrences == 4
    assert (await receiver.tally(first.run_id)).occurrences == 2


async def test_p5_of_many_deliveries_at_once_one_opens_the_run(receiver):
    admitted = await asyncio.gather(*(receiver.receive(OOM) for _ in range(50)))
    outcomes = [one.outcome for one in admitted]
    assert outcomes.count(Outcome.OPENED) == 1
    assert outcomes.count(Outcome.ATTACHED) == 49
    assert (await receiver.tally(admitted[0].run_id)).occurrences == 50
    assert receiver.told == [AlertAccepted]


async def test_no_two_news_of_a_run_share_an_id(receiver):
    first = await receiver.receive(OOM)
    await receiver.receive(OOM)
    await receiver.intake.close(INCIDENT, first.run_id)
    for alert in (OOM, restarted(OOM), LATENCY, resolved(OOM)):
        await receiver.receive(alert)
    ids = [event.id for event in receiver.bus.published]
    assert len(set(ids)) == len(ids) == 5


async def test_p1_a_crash_between_storing_and_publishing_is_healed(receiver, redis):
    receiver.bus.down = outage("the bus did not store it")
    with pytest.raises(TransientError):
        await receiver.receive(OOM)
    healer = Receiver(redis)
    assert await healer.outbox.flush() == 1
    (accepted,) = healer.bus.published
    assert isinstance(accepted, AlertAccepted)
    assert (accepted.alert, accepted.incident_key) == (OOM, INCIDENT)


async def test_p5_what_was_healed_and_then_told_again_has_the_same_id(receiver, redis):
    receiver.bus.down = outage()
    admitted = await receiver.intake.admit(INCIDENT, OOM)
    healer = Receiver(redis)
    await healer.outbox.flush()
    receiver.bus.down = None
    await receiver.intake.tell(admitted)
    assert receiver.bus.published == healer.bus.published


async def test_p1_news_of_an_older_run_survive_the_opening_of_a_newer_one(receiver):
    receiver.bus.down = outage()
    first = await receiver.intake.admit(INCIDENT, OOM)
    await receiver.intake.close(INCIDENT, first.run_id)
    second = await receiver.intake.admit(INCIDENT, restarted(OOM))
    receiver.bus.down = None
    assert await receiver.outbox.flush() == 2
    assert [event.run_id for event in receiver.bus.published] == [first.run_id, second.run_id]


async def test_the_alert_comes_out_of_the_record_as_it_went_in(receiver):
    odd = build.alert(title="line\nbreak", labels={"a\nb": "c\td", "ü": "\u202e"}, starts_at=None)
    await receiver.intake.admit("key\nwith\nlines", odd)
    await receiver.outbox.flush()
    (accepted,) = receiver.bus.published
    assert (accepted.alert, accepted.incident_key) == (odd, "key\nwith\nlines")


async def test_a_record_is_not_kept_for_ever(receiver, redis):
    await receiver.receive(OOM)
    assert await redis.ttl(keys.incident(INCIDENT)) > 0


async def test_an_older_start_of_another_replica_is_no_new_episode(receiver):
    opened = await receiver.receive(OOM)
    later = await receiver.receive(restarted(OOM))
    await receiver.intake.close(INCIDENT, opened.run_id)
    for twin in (OOM, restarted(OOM)):
        again = await receiver.receive(twin)
        assert (again.outcome, again.run_id) == (Outcome.ATTACHED, later.run_id)


async def test_an_alert_without_a_start_is_new_once_it_had_resolved(receiver):
    alert = OOM.model_copy(update={"starts_at": None})
    first = await receiver.receive(alert)
    await receiver.intake.close(INCIDENT, first.run_id)
    assert (await receiver.receive(alert)).outcome is Outcome.ATTACHED
    await receiver.receive(resolved(alert))
    receiver.clock.advance(1)
    second = await receiver.receive(alert)
    assert second.outcome is Outcome.OPENED
    assert second.run_id != first.run_id


async def test_an_ended_run_hears_once_a_minute_that_its_alert_still_fires(receiver):
    opened = await receiver.receive(OOM)
    await receiver.intake.close(INCIDENT, opened.run_id)
    for _ in range(6):
        await receiver.receive(OOM)
        receiver.clock.advance(20)
    assert receiver.novelties == [Novelty.NOTHING, Novelty.NOTHING]
    assert (await receiver.tally(opened.run_id)).occurrences == 7


async def test_an_alert_that_cleared_is_not_given_a_run_of_its_own(receiver):
    opened = await receiver.receive(OOM)
    await receiver.receive(resolved(OOM))
    assert not await receiver.intake.disown(INCIDENT, opened.run_id, OOM.fingerprint)


async def test_a_disowned_alert_opens_a_run_of_its_own(receiver):
    ended = await receiver.receive(OOM)
    late = await receiver.receive(restarted(LATENCY))
    assert late.run_id == ended.run_id
    assert await receiver.intake.disown(INCIDENT, ended.run_id, LATENCY.fingerprint)
    own = await receiver.receive(restarted(LATENCY))
    assert own.outcome is Outcome.OPENED
    assert not await receiver.intake.disown(INCIDENT, ended.run_id, LATENCY.fingerprint)


async def test_a_workload_with_ever_new_pods_keeps_a_bounded_record(receiver, redis):
    for number in range(1005):
        receiver.clock.advance(1)
        opened = await receiver.receive(build.alert(fingerprint=f"pod-{number}", starts_at=None))
    fields = await redis.hkeys(keys.incident(INCIDENT))
    assert sum(field.startswith("alert:") for field in fields) == 1000
    tally = await receiver.tally(opened.run_id)
    assert (tally.occurrences, tally.firing, tally.resolved) == (1005, 1000, 0)


async def test_resolves_that_nobody_waits_for_keep_a_bounded_record_too(receiver, redis):
    for number in range(1005):
        await receiver.receive(resolved(build.alert(fingerprint=f"pod-{number}")))
    record = keys.incident(INCIDENT)
    assert await redis.zcard(keys.incident_alerts(record)) == 1000
    for key in (record, keys.incident_alerts(record)):
        assert 0 < await redis.pttl(key) <= 240_000


async def test_a_start_in_the_future_is_no_start_at_all(receiver):
    ahead = restarted(OOM, minutes=10**6)
    first = await receiver.receive(ahead)
    await receiver.intake.close(INCIDENT, first.run_id)
    receiver.clock.advance(3600)
    assert (await receiver.receive(ahead)).outcome is Outcome.ATTACHED


async def test_an_episode_that_a_rule_held_back_opens_a_run_once_the_rule_is_over(receiver):
    held = await receiver.receive(OOM)
    ends = receiver.clock.now() + timedelta(minutes=5)
    await receiver.intake.close(INCIDENT, held.run_id, ends)
    receiver.clock.advance(299)
    assert (await receiver.receive(OOM)).outcome is Outcome.ATTACHED
    receiver.clock.advance(1)
    opened = await receiver.receive(OOM)
    assert opened.outcome is Outcome.OPENED
    assert opened.run_id != held.run_id
    receiver.clock.advance(1)
    assert (await receiver.receive(OOM)).run_id == opened.run_id


MINUTE = 60


async def test_the_counts_of_earlier_runs_stay_known_in_a_bounded_number(receiver, redis):
    runs = []
    for number in range(25):
        opened = await receiver.receive(restarted(OOM, minutes=10 * number))
        runs.append(opened.run_id)
        await receiver.intake.close(INCIDENT, opened.run_id)
    counts = await receiver.tallies.many([(INCIDENT, run_id) for run_id in runs])
    assert [count is not None for count in counts] == [False] * 4 + [True] * 21
    assert len(set(runs)) == 25


@pytest.mark.parametrize("seconds", [-60, -1, 1, 60, 119])
async def test_replicas_that_tell_a_start_a_little_apart_tell_one_episode(receiver, seconds):
    opened = await receiver.receive(OOM)
    shifted = OOM.model_copy(update={"starts_at": OOM.starts_at + timedelta(seconds=seconds)})
    await receiver.receive(shifted)
    await receiver.intake.close(INCIDENT, opened.run_id)
    for twin in (OOM, shifted):
        again = await receiver.receive(twin)
        assert (again.outcome, again.run_id) == (Outcome.ATTACHED, opened.run_id)
    tally = await receiver.tally(opened.run_id)
    assert (tally.occurrences, tally.episodes, tally.firing) == (4, 1, 1)
    assert receiver.novelties == [Novelty.NOTHING], "the ended run hears once that it still fires"


async def test_d07_a_later_start_without_an_end_in_between_is_told_as_an_episode(receiver):
    opened = await receiver.receive(OOM)
    for minutes in (10, 20):
        await receiver.receive(restarted(OOM, minutes))
    assert receiver.novelties == [Novelty.EPISODE, Novelty.EPISODE]
    tally = await receiver.tally(opened.run_id)
    assert (tally.episodes, tally.firing, tally.resolved) == (3, 1, 0)


async def test_an_alert_that_flaps_while_its_run_is_open_stays_with_it(receiver):
    opened = await receiver.receive(OOM)
    for minutes in (10, 20, 30):
        await receiver.receive(resolved(OOM, ends_at=NOW + timedelta(minutes=minutes - 5)))
        again = await receiver.receive(restarted(OOM, minutes))
        assert again.run_id == opened.run_id
    assert receiver.told == [AlertAccepted, *[AlertResolved, AlertRepeated] * 3]
    assert receiver.novelties == [Novelty.EPISODE] * 3
    assert (await receiver.tally(opened.run_id)).episodes == 4


async def test_an_end_that_overtakes_its_start_keeps_the_late_start_from_opening_a_run(receiver):
    await receiver.receive(resolved(OOM, ends_at=NOW))
    receiver.clock.advance(3 * MINUTE)
    late = await receiver.receive(OOM)
    assert (late.outcome, late.run_id, receiver.told) == (Outcome.IGNORED, None, [])
    later = await receiver.receive(restarted(OOM))
    assert later.outcome is Outcome.OPENED


async def test_what_still_fires_minutes_after_its_end_was_told_opens_a_run_after_all(receiver):
    await receiver.receive(resolved(OOM, ends_at=NOW))
    receiver.clock.advance(4 * MINUTE)
    assert (await receiver.receive(OOM)).outcome is Outcome.OPENED


async def test_a_late_word_of_an_episode_that_is_over_does_not_revive_it(receiver):
    opened = await receiver.receive(OOM)
    await receiver.receive(resolved(OOM, ends_at=NOW))
    receiver.clock.advance(MINUTE)
    assert (await receiver.receive(OOM)).outcome is Outcome.ATTACHED
    tally = await receiver.tally(opened.run_id)
    assert (tally.occurrences, tally.firing, tally.resolved) == (2, 0, 1)
    await receiver.intake.close(INCIDENT, opened.run_id)
    late = await receiver.receive(OOM)
    assert (late.outcome, late.run_id) == (Outcome.ATTACHED, opened.run_id)
    assert receiver.told == [AlertAccepted, AlertResolved]


async def test_an_end_that_was_wrong_is_taken_back_by_the_same_start_minutes_later(receiver):
    opened = await receiver.receive(OOM)
    await receiver.receive(resolved(OOM, ends_at=NOW))
    await receiver.intake.close(INCIDENT, opened.run_id)
    receiver.clock.advance(5 * MINUTE)
    again = await receiver.receive(OOM)
    assert again.outcome is Outcome.OPENED
    assert again.run_id != opened.run_id


async def test_the_end_of_an_earlier_episode_does_not_end_a_later_one(receiver):
    opened = await receiver.receive(restarted(OOM))
    late = await receiver.receive(resolved(OOM, ends_at=NOW))
    assert late.outcome is Outcome.IGNORED
    assert (await receiver.tally(opened.run_id)).firing == 1


async def test_a_resolve_is_trusted_whatever_its_end(receiver):
    for ends_at in (None, NOW, NOW + timedelta(days=365)):
        alert = build.alert(fingerprint=f"ends {ends_at}")
        opened = await receiver.receive(alert, alert.fingerprint)
        cleared = await receiver.receive(resolved(alert, ends_at=ends_at), alert.fingerprint)
        assert cleared.outcome is Outcome.RESOLVED
        tally = await receiver.tally(opened.run_id, alert.fingerprint)
        assert (tally.firing, tally.resolved) == (0, 1)


async def test_an_end_in_the_future_does_not_hide_the_next_episode(receiver):
    await receiver.receive(OOM)
    await receiver.receive(resolved(OOM, ends_at=NOW + timedelta(days=365)))
    receiver.clock.advance(10 * MINUTE)
    again = OOM.model_copy(update={"starts_at": receiver.clock.now()})
    await receiver.receive(again)
    assert receiver.told == [AlertAccepted, AlertResolved, AlertRepeated]


async def test_a_severity_that_rises_is_told_and_the_highest_is_shown(receiver):
    opened = await receiver.receive(OOM.model_copy(update={"severity": Severity.WARNING}))
    for severity in (Severity.CRITICAL, Severity.INFO, Severity.CRITICAL):
        await receiver.receive(OOM.model_copy(update={"severity": severity}))
    assert receiver.novelties == [Novelty.SEVERITY]
    tally = await receiver.tally(opened.run_id)
    assert (tally.severity, tally.alert.severity) == (Severity.CRITICAL, Severity.CRITICAL)


async def test_an_ended_run_hears_each_time_its_alert_gets_worse(receiver):
    opened = await receiver.receive(OOM.model_copy(update={"severity": Severity.INFO}))
    await receiver.intake.close(INCIDENT, opened.run_id)
    for severity in (Severity.WARNING, Severity.WARNING, Severity.CRITICAL, Severity.WARNING):
        again = await receiver.receive(OOM.model_copy(update={"severity": severity}))
        assert again.run_id == opened.run_id
    assert receiver.novelties == [Novelty.SEVERITY, Novelty.SEVERITY]


async def test_a_changed_text_is_told_once_a_minute_and_the_last_is_on_the_record(receiver):
    opened = await receiver.receive(OOM)
    for number in range(6):
        receiver.clock.advance(20)
        await receiver.receive(OOM.model_copy(update={"annotations": {"value": str(number)}}))
    assert receiver.novelties == [Novelty.TEXT, Novelty.TEXT]
    tally = await receiver.tally(opened.run_id)
    assert tally.alert.annotations == {"value": "5"}
    assert tally.occurrences == 7


async def test_the_alerts_of_a_run_say_how_each_of_them_stands(receiver):
    opened = await receiver.receive(OOM)
    receiver.clock.advance(1)
    await receiver.receive(LATENCY)
    receiver.clock.advance(1)
    await receiver.receive(resolved(OOM, ends_at=NOW))
    oom, latency = (await receiver.tally(opened.run_id)).members
    assert (oom.fingerprint, oom.status, oom.ends_at) == ("oom", AlertStatus.RESOLVED, NOW)
    assert (latency.title, latency.status) == ("HighLatency", AlertStatus.FIRING)
    assert (latency.starts_at, latency.ends_at) == (LATENCY.starts_at, None)
    assert oom.last_seen == receiver.clock.now()


async def test_an_alert_of_an_earlier_run_is_new_to_the_run_that_is_open(receiver):
    first = await receiver.receive(OOM)
    await receiver.intake.close(INCIDENT, first.run_id)
    second = await receiver.receive(LATENCY)
    await receiver.receive(OOM)
    assert receiver.novelties == [Novelty.ALERT]
    assert (await receiver.tally(second.run_id)).firing == 2
    await receiver.receive(resolved(LATENCY))
    assert receiver.bus.published[-1].still_firing == 1


async def test_p1_an_alert_that_was_forgotten_never_opens_an_ended_run_again(receiver, redis):
    first = await receiver.receive(OOM)
    await receiver.intake.close(INCIDENT, first.run_id)
    second = await receiver.receive(restarted(LATENCY))
    await receiver.intake.close(INCIDENT, second.run_id)
    await redis.hdel(keys.incident(INCIDENT), "alert:oom")
    third = await receiver.receive(OOM)
    assert third.outcome is Outcome.OPENED
    assert third.run_id not in {first.run_id, second.run_id}
