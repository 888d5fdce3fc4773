"""Many clusters asked at once: each answer has a name, and silence is never taken for health."""

import asyncio
from datetime import UTC, datetime

import pytest

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.fleet import Fleet, Labelled, Member, look_at
from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ClusterCap, KnownCluster
from tocsin_kit.errors import TransientError

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
RECORDED = datetime(2026, 3, 1, tzinfo=UTC)
ALL = tuple(ClusterCap)


class Nodes:
    """A cluster that is no more than its nodes."""

    source = "fake"

    def __init__(self, *versions, error=None, recorded_at=None, hangs=False):
        self.versions, self.error, self.recorded_at = versions, error, recorded_at
        self.hangs = hangs

    async def list(self, kind, namespace, labels=None):
        if self.hangs:
            await asyncio.Event().wait()
        if self.error:
            raise self.error
        infos = [{"nodeInfo": {"kubeletVersion": version}} for version in self.versions]
        return tuple(Manifest({"kind": kind, "status": info}) for info in infos)


def fleet(seconds=0.05, **clusters):
    members = [Member(name, cluster, f"This is {name}.") for name, cluster in clusters.items()]
    return Fleet(members, lambda: NOW, seconds=seconds)


def known(*names):
    return [KnownCluster(name=name, caps=ALL, looked_at=NOW) for name in names]


async def nodes(cluster):
    return len(await cluster.list("Node", ""))


async def test_a_look_says_what_each_cluster_is_and_when_that_was_true():
    both = fleet(live=Nodes("v1.31.2"), old=Nodes("v1.9.0", recorded_at=RECORDED))
    context = await both.look()
    live, old = context.clusters
    assert (live.name, live.version, live.looked_at, live.away) == ("live", "v1.31.2", NOW, "")
    assert (old.version, old.looked_at, old.caps) == ("v1.9.0", RECORDED, ALL)
    assert old.instructions == "This is old."
    assert context.is_multi


@pytest.mark.parametrize(
    ("cluster", "why"),
    [
        (Nodes(error=ClusterError("forbidden")), "forbidden"),
        (Nodes(error=TransientError("connection refused")), "connection refused"),
        (Nodes(hangs=True), "no answer within 0.05 s"),
    ],
)
async def test_a_cluster_that_is_away_hides_no_other_and_is_not_reachable(cluster, why):
    context = await fleet(bad=cluster, good=Nodes("v1.31.2")).look()
    bad, good = context.clusters
    assert (bad.reachable, bad.away, bad.looked_at) == (False, why, None)
    assert good.reachable


async def test_of_a_cluster_that_goes_away_the_last_look_is_kept():
    cluster = Nodes("v1.31.2", recorded_at=RECORDED)
    one = fleet(west=cluster)
    first = await one.look()
    cluster.error = TransientError("connection refused")
    (west,) = (await one.look(first)).clusters
    assert (west.version, west.looked_at) == ("v1.31.2", RECORDED)
    assert west.away == "connection refused"
    cluster.error = None
    (west,) = (await one.look(first)).clusters
    assert west.reachable


async def test_versions_are_told_once_and_the_oldest_first():
    assert (await look_at(Nodes("v1.31.2", "v1.9.1", "v1.31.2", ""))).version == "v1.9.1, v1.31.2"


async def test_answers_are_labelled_and_stand_in_the_order_of_the_targets():
    two = fleet(a=Nodes("1"), b=Nodes("1", "2"))
    answers = await two.ask(known("b", "a"), ClusterCap.OBJECTS, nodes)
    assert answers == (Labelled("b", 2), Labelled("a", 1))


async def test_a_cluster_that_does_not_answer_is_missing_and_hides_no_other():
    three = fleet(a=Nodes(hangs=True), b=Nodes(error=ClusterError("forbidden")), c=Nodes("1"))
    a, b, c = await three.ask(known("a", "b", "c"), ClusterCap.OBJECTS, nodes)
    assert (a.answer, a.missing) == (None, "no answer within 0.05 s")
    assert (b.answer, b.missing) == (None, "forbidden")
    assert (c.answer, c.missing) == (1, "")


async def test_a_cluster_is_not_asked_for_what_it_does_not_have():
    (target,) = known("a")
    target = target.model_copy(update={"caps": (ClusterCap.OBJECTS,)})
    asked = []

    async def note(cluster):
        asked.append(cluster)

    answers = await fleet(a=Nodes()).ask([target], ClusterCap.LOGS, note)
    assert (answers, asked) == ((Labelled("a", None, "it has no logs"),), [])


async def test_a_cluster_that_is_no_longer_configured_is_missing():
    (answer,) = await fleet(a=Nodes()).ask(known("gone"), ClusterCap.OBJECTS, nodes)
    assert (answer.cluster, answer.missing) == ("gone", "it is not connected")


async def test_no_more_clusters_are_asked_at_once_than_is_allowed():
    running, most, done = 0, 0, asyncio.Event()

    async def count(cluster):
        nonlocal running, most
        running += 1
        most = max(most, running)
        if most == 3:
            done.set()
        await done.wait()
        running -= 1

    names = [f"c{n}" for n in range(9)]
    many = Fleet([Member(name, Nodes()) for name in names], lambda: NOW, at_once=3)
    answers = await many.ask(known(*names), ClusterCap.OBJECTS, count)
    assert [answer.missing for answer in answers] == [""] * 9
    assert most == 3


@pytest.mark.parametrize("names", [["a", "a"], [""]])
def test_every_cluster_has_a_name_of_its_own(names):
    with pytest.raises(ClusterError):
        Fleet([Member(name, Nodes()) for name in names], lambda: NOW)
