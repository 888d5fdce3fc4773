"""Faults that other receivers of alerts had in public, each as its whole kind, on a real bus.

What holds an alert back for a time (silences, windows) has its tests with triage.
"""

import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx
import pytest

from tocsin_action.handlers import CLEARABLE, FOLLOWED
from tocsin_action.handlers import Handlers as Action
from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    EndReason,
    RunFinished,
    RunState,
)
from tocsin_contracts.views import ApprovalState
from tocsin_gateway import views
from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.senders import Auth, Sender
from tocsin_kit import intake, keys
from tocsin_kit.intake import Intake
from tocsin_kit.moves import move
from tocsin_kit.outbox import Outbox
from tocsin_kit.quorum import ONE
from tocsin_kit.tally import Tallies
from tocsin_testing import build
from tocsin_testing.fakes import FakeClock
from tocsin_testing.gate import FakeGate
from tocsin_testing.harness import running

pytestmark = pytest.mark.servers

NOW = datetime(2026, 1, 1, 10, tzinfo=UTC)
START = "2026-01-01T10:00:00Z"
NEVER = "0001-01-01T00:00:00Z"
GROUP = '{}:{alertname="X"}'
READER = "action-resolved"


def alert(starts=START, ends=NEVER, link="http://prom/graph", notes=None, **labels):
    return {
        "status": "firing" if ends == NEVER else "resolved",
        "labels": {"alertname": "X"} | labels,
        "annotations": notes or {},
        "startsAt": starts,
        "endsAt": ends,
        "generatorURL": link,
    }


class Peer:
    """Ingest's endpoint, the real record and bus behind it, and action where alerts clear."""

    def __init__(self, rig, approvals, clock, followers, *, senders):
        self.rig, self.clock, self.approvals = rig, clock, approvals
        self.followers = followers
        outbox = Outbox(rig.redis, "ingest", intake.read, rig.bus.publish, clock)
        self.intake = Intake(rig.redis, outbox, clock=clock)
        self.tallies = Tallies(rig.redis)
        api = Api(
            sources.load(),
            Receiver(self.intake, rig.runs),
            gate=Gate(senders, [], dev=True),
            replica_labels=frozenset({"replica"}),
            clock=clock,
        )
        self.transport = httpx.ASGITransport(api.app())

    async def post(self, *alerts, group=GROUP, instance="", status="firing"):
        body = {
            "version": "4",
            "groupKey": group,
            "truncatedAlerts": 0,
            "status": status,
            "receiver": "r",
            "groupLabels": {},
            "commonLabels": {},
            "commonAnnotations": {},
            "externalURL": "http://am:9093",
            "alerts": alerts,
        }
        return await self.send(f"alertmanager{instance and '/' + instance}", body)

    async def send(self, path, body):
        async with httpx.AsyncClient(transport=self.transport, base_url="http://test") as client:
            answer = await client.post(f"/webhook/{path}", content=json.dumps(body).encode())
        assert answer.status_code == 202, answer.text
        return answer.json()["alerts"]

    async def view(self, run_id):
        run = await self.rig.reader.get(run_id)
        tally = await self.tallies.one(views.incident_key(run), run_id)
        return views.detail(run, None, tally)

    async def facts(self, kind):
        return [fact for fact in await self.rig.facts() if isinstance(fact, kind)]


class Followers:
    """Who looks at pull requests: hears of alerts that cleared."""

    def __init__(self):
        self.heard = []

    async def cleared(self, run, at):
        self.heard.append((run.id, at))


@asynccontextmanager
async def peer(nats_url, redis_url, **senders):
    clock = FakeClock(NOW)
    approvals = FakeGate(clock)

    class Reader:
        async def get(self, run_id):
            return await rig.reader.get(run_id)

    followers = Followers()
    action = Action(None, approvals, Reader(), clock, followers, asking=None, freezing=None)

    def subscribe(bus):
        bus.on(AlertResolved, action.on_alert_resolved, move(*CLEARABLE))

    async with running(nats_url, redis_url, subscribe, service="action") as rig:
        yield Peer(rig, approvals, clock, followers, senders=senders)


def of(receipts, name):
    return [receipt[name] for receipt in receipts]


async def test_d01_chosen_labels_tell_alerts_apart_and_never_run_into_each_other(
    nats_url, redis_url
):
    chosen = Sender(auth=Auth.NONE, identity_labels=("labels.alertname", "env_dc", "group"))
    async with peer(nats_url, redis_url, alertmanager=chosen) as ours:
        fired = await ours.post(
            alert(env_dc="dc1", group="a"),
            alert(env_dc="dc1", group="b"),
            alert(env_dc="dc1a", group=""),
            alert(env_dc="dc1", group="a", pod="another"),
        )
        assert len(set(of(fired, "fingerprint"))) == len(set(of(fired, "run_id"))) == 3
        assert of(fired, "status") == ["opened", "opened", "opened", "attached"]


async def test_d01_unchosen_labels_tell_alerts_apart_too(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        fired = await ours.post(alert(env_dc="dc1", group="a"), alert(env_dc="dc1", group="b"))
        assert len(set(of(fired, "fingerprint"))) == 2
        assert (await ours.view(fired[0]["run_id"])).firing == 2


async def test_d02_an_exact_repeat_moves_the_last_time_it_was_seen(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        (first,) = await ours.post(alert())
        ours.clock.advance(30 * 60)
        (again,) = await ours.post(alert())
        assert (again["status"], again["run_id"]) == ("attached", first["run_id"])
        view = await ours.view(first["run_id"])
        assert (view.occurrences, view.episodes, view.firing) == (2, 1, 1)
        assert (view.first_seen, view.last_seen) == (NOW, ours.clock.now())
        assert len(await ours.rig.facts()) == 1, "one message"


async def test_d04_a_group_that_comes_again_changes_only_counts_and_members_stand_alone(
    nats_url, redis_url
):
    async with peer(nats_url, redis_url) as ours:
        group = [alert(i=number) for number in "012"]
        fired = await ours.post(*group)
        (run_id,) = set(of(fired, "run_id"))
        again = await ours.post(*group)
        assert set(of(again, "run_id")) == {run_id}
        told = len(await ours.rig.facts())
        await ours.post(alert(i="0", ends="2026-01-01T10:05:00Z"), *group[1:])
        view = await ours.view(run_id)
        assert (view.firing, view.resolved, view.occurrences) == (2, 1, 8)
        assert [one.status.value for one in view.members].count("resolved") == 1
        await ours.rig.settled(READER)
        assert (await ours.view(run_id)).state is RunState.RECEIVED, "the incident is open"
        assert (told, len(await ours.rig.facts())) == (3, 4)


async def test_d05_a_resolve_finds_its_incident_whatever_the_zone_of_its_times(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        start, end = "2024-09-27T00:27:00+08:00", "2024-09-27T00:31:00+08:00"
        (fired,) = await ours.post(alert(start, node="10859"))
        (cleared,) = await ours.post(alert(start, end, node="10859"), status="resolved")
        assert (cleared["status"], cleared["run_id"]) == ("resolved", fired["run_id"])
        await ours.rig.settled(READER)
        view = await ours.view(fired["run_id"])
        assert (view.state, view.finished.reason) == (
            RunState.NO_CHANGE,
            EndReason.ALERT_CLEARED,
        )
        (told,) = await ours.facts(AlertResolved)
        assert told.alert.ends_at == datetime(2024, 9, 26, 16, 31, tzinfo=UTC)
        assert len(await ours.facts(AlertAccepted)) == 1


@pytest.mark.parametrize("first", [True, False])
async def test_d06_only_the_status_of_each_alert_counts(nats_url, redis_url, first):
    async with peer(nats_url, redis_url) as ours:
        one, other = alert(env="prod", instance="a1"), alert(env="prod")
        (run_id,) = set(of(await ours.post(one, other), "run_id"))
        over = alert(env="prod", instance="a1", ends="2026-01-01T10:01:00Z")
        receipts = await ours.post(*([over, other] if first else [other, over]))
        assert sorted(of(receipts, "status")) == ["attached", "resolved"]
        view = await ours.view(run_id)
        assert (view.firing, view.resolved) == (1, 1)


async def test_d06_an_end_without_a_beginning_opens_nothing(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        over = alert(env="prod", instance="a1", ends="2026-01-01T10:01:00Z")
        receipts = await ours.post(over, alert(env="prod"))
        assert of(receipts, "status") == ["ignored", "opened"]


async def test_d07_a_later_start_without_an_end_is_an_episode_and_is_told(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        (fired,) = await ours.post(alert())
        ours.clock.advance(10 * 60)
        (again,) = await ours.post(alert("2026-01-01T10:10:00Z"))
        assert again["run_id"] == fired["run_id"]
        assert (await ours.view(fired["run_id"])).episodes == 2
        (told,) = await ours.facts(AlertRepeated)
        assert (told.novelty, told.episodes) == ("episode", 2)


async def test_d07_a_later_start_after_the_run_ended_is_another_run(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        (fired,) = await ours.post(alert())
        key = (await ours.facts(AlertAccepted))[0].incident_key
        await ours.intake.close(key, fired["run_id"])
        ours.clock.advance(10 * 60)
        (again,) = await ours.post(alert("2026-01-01T10:10:00Z"))
        assert again["status"] == "opened"
        assert again["run_id"] != fired["run_id"]


async def test_d08_two_groups_with_one_key_do_not_end_each_others_alerts(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        group = '{}/{foo="bar"}:{}'
        (one,) = await ours.post(alert(foo="bar", p="1"), group=group)
        await ours.post(alert(foo="bar", p="2"), group=group)
        await ours.post(alert(foo="bar", p="2", ends="2026-01-01T10:09:00Z"), group=group)
        await ours.rig.settled(READER)
        view = await ours.view(one["run_id"])
        (still,) = [member for member in view.members if member.status == "firing"]
        assert still.fingerprint == one["fingerprint"]
        assert view.state is RunState.RECEIVED, "absence is no end, nor is another's"


async def test_d09_the_same_wording_does_not_make_two_alerts_one(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        notes = {"summary": "Pod is crash looping."}
        (one,) = await ours.post(alert(namespace="a", pod="x", notes=notes))
        (other,) = await ours.post(alert(namespace="b", pod="y", notes=notes))
        assert one["fingerprint"] != other["fingerprint"]
        assert one["run_id"] != other["run_id"]


async def test_d09_another_wording_does_not_make_one_alert_two(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        (one,) = await ours.post(alert(notes={"summary": "Disk at 91 %"}))
        (other,) = await ours.post(alert(notes={"summary": "Disk at 97 %"}))
        assert (one["fingerprint"], one["run_id"]) == (other["fingerprint"], other["run_id"])
        assert (await ours.view(one["run_id"])).alert.summary == "Disk at 97 %"


async def test_d10_a_start_is_the_same_instant_in_every_zone_and_precision(nats_url, redis_url):
    given = {
        "2016-11-12T17:37:02.804-05:00": "2016-11-12T22:37:02.804000Z",
        "2016-11-12T22:37:02Z": "2016-11-12T22:37:02Z",
        "2016-11-13T04:07:02.123456789+05:30": "2016-11-12T22:37:02.123456Z",
    }
    async with peer(nats_url, redis_url) as ours:
        await ours.post(*(alert(start, node=str(n)) for n, start in enumerate(given)))
        told = [fact.alert.model_dump(mode="json") for fact in await ours.facts(AlertAccepted)]
        assert sorted(one["starts_at"] for one in told) == sorted(given.values())


async def test_d11_a_link_that_leads_nowhere_never_stops_an_alert(nats_url, redis_url):
    links = {"a": "/graph?g0.expr=up", "b": "javascript:alert(1)", "c": ""}
    async with peer(nats_url, redis_url) as ours:
        await ours.post(*(alert(node=node, link=link) for node, link in links.items()))
        told = {f.alert.labels["node"]: f.alert.links for f in await ours.facts(AlertAccepted)}
        assert told["a"]["source"] == "http://am:9093/graph?g0.expr=up"
        assert "source" not in told["b"] | told["c"]


async def test_d12_twenty_repeats_are_one_investigation_and_one_message(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        for _ in range(20):
            (fired,) = await ours.post(alert(pod="memory-hog"))
            ours.clock.advance(30)
        assert (await ours.view(fired["run_id"])).occurrences == 20
        assert [type(fact) for fact in await ours.rig.facts()] == [AlertAccepted]


async def test_the_same_alert_of_two_replicas_is_one(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        (one,) = await ours.post(alert(node="n", replica="a"))
        (twin,) = await ours.post(alert("2026-01-01T10:00:20Z", node="n", replica="b"))
        assert (one["fingerprint"], one["run_id"]) == (twin["fingerprint"], twin["run_id"])
        view = await ours.view(one["run_id"])
        assert (view.occurrences, view.episodes, view.firing) == (2, 1, 1)


async def test_the_same_alert_of_two_senders_is_two(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        (one,) = await ours.post(alert(node="n"), instance="eu")
        (other,) = await ours.post(alert(node="n"), instance="us")
        assert one["fingerprint"] != other["fingerprint"]
        assert one["run_id"] != other["run_id"]


@pytest.mark.parametrize("state", FOLLOWED)
async def test_a_resolve_is_told_to_who_follows_the_pull_request(nats_url, redis_url, state):
    async with peer(nats_url, redis_url) as ours:
        (fired,) = await ours.post(alert())
        await ours.rig.redis.hset(keys.run(fired["run_id"]), "state", state.value)
        await ours.post(alert(ends="2026-01-01T10:05:00Z"), status="resolved")
        await ours.rig.settled(READER)
        assert [run_id for run_id, _ in ours.followers.heard] == [fired["run_id"]]
        assert await ours.facts(RunFinished) == []


@pytest.mark.parametrize("state", [one for one in CLEARABLE if one not in FOLLOWED])
async def test_a_resolve_ends_its_run_wherever_nothing_is_written_yet(nats_url, redis_url, state):
    async with peer(nats_url, redis_url) as ours:
        (fired,) = await ours.post(alert())
        await ours.rig.redis.hset(keys.run(fired["run_id"]), "state", state.value)
        await ours.post(alert(ends="2026-01-01T10:05:00Z"), status="resolved")
        await ours.rig.settled(READER)
        (ended,) = await ours.facts(RunFinished)
        assert ended.outcome is RunState.NO_CHANGE
        assert ended.reason is EndReason.ALERT_CLEARED


async def test_a_resolve_withdraws_the_approval_that_waits(nats_url, redis_url):
    async with peer(nats_url, redis_url) as ours:
        (fired,) = await ours.post(alert())
        run_id = fired["run_id"]
        drafted = build.plan_drafted(run_id=run_id)
        plan_hash = drafted.plan.plan_hash
        stored = f"0\n{drafted.model_dump_json()}"
        fact = f"fact:{drafted.topic}"
        fields = {"state": RunState.AWAITING_APPROVAL.value, fact: stored}
        await ours.rig.redis.hset(keys.run(run_id), mapping=fields)
        later = datetime(2026, 1, 1, 14, tzinfo=UTC)
        await ours.approvals.open(run_id, plan_hash, ("ana",), later, ONE)
        await ours.post(alert(ends="2026-01-01T10:05:00Z"), status="resolved")
        await ours.rig.settled(READER)
        approval = await ours.approvals.get(run_id, plan_hash)
        assert approval.state is ApprovalState.WITHDRAWN
        assert (await ours.view(run_id)).state is RunState.NO_CHANGE


async def test_an_end_that_lost_the_labels_of_its_start_finds_its_run(nats_url, redis_url):
    def event(action, **more):
        return {"event_action": action, "dedup_key": "cart-down", "routing_key": "r", **more}

    payload = {
        "summary": "cart is down",
        "source": "prometheus",
        "severity": "critical",
        "custom_details": {"namespace": "shop", "deployment": "cart"},
    }
    async with peer(nats_url, redis_url) as rig:
        (opened,) = await rig.send("pagerduty_events", event("trigger", payload=payload))
        (again,) = await rig.send("pagerduty_events", event("trigger"))
        (ended,) = await rig.send("pagerduty_events", event("resolve"))
        assert of([opened, again, ended], "run_id") == [opened["run_id"]] * 3
        assert of([opened, again, ended], "status") == ["opened", "attached", "resolved"]
        assert (await rig.view(opened["run_id"])).incident_parts["workload"] == "cart"
