import asyncio
from datetime import UTC, datetime

import pytest

from tocsin_agents.budget import Budget
from tocsin_cli.commands import bundle
from tocsin_cluster.clusters import OneCluster, UnseenCluster
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.kinds import kind_of
from tocsin_contracts import EvidenceKind, ObjectRef
from tocsin_kit.errors import TransientError
from tocsin_rca import analyzers, collectors
from tocsin_rca.collectors import around
from tocsin_rca.evidence import InconclusiveReport, conclude
from tocsin_rca.evidence.observation import EXCERPT
from tocsin_rca.ports import World

WEB = ObjectRef(kind="Deployment", namespace="shop", name="web")
NOW = datetime(2026, 3, 2, 9, 22, tzinfo=UTC)
READY = {"ready": True, "restartCount": 0, "state": {"running": {}}}
TROUBLED = {"ready": False, "restartCount": 2, "state": {"running": {}}}


class Broken:
    """A cluster and a history where one question fails."""

    def __init__(self, inner, question, error):
        self._inner, self._question, self._error = inner, question, error
        self.source = inner.source

    def __getattr__(self, name):
        if name == self._question:
            return self._fail
        return getattr(self._inner, name)

    async def _fail(self, *args, **options):
        raise self._error


class Live:
    """A cluster that answers about this moment."""

    recorded_at = None

    def __init__(self, inner):
        self._inner, self.source = inner, "live"

    def __getattr__(self, name):
        return getattr(self._inner, name)


class Silent:
    """A cluster that never answers."""

    source = "silent"

    def __getattr__(self, name):
        return self._wait

    async def _wait(self, *args, **options):
        await asyncio.Event().wait()


def missing(case):
    return [(seen.evidence.query, seen.evidence.excerpt) for seen in case.missing]


def web(scene, **status):
    scene.deployment()
    scene.pod(**(status or READY))


def test_a_bundle_that_we_collect_has_every_kind_that_is_read():
    collected = {kind_of(word) for word in (*bundle.KINDS, *bundle.CLUSTER_WIDE, *bundle.CUSTOM)}
    read = {*around.NAMESPACED, *around.CLUSTER_WIDE, *around.ELSEWHERE, "Event"}
    assert read - collected == {"Secret", "EndpointSlice"}


async def test_evidence_is_numbered_and_the_alert_comes_first(scene):
    web(scene)
    case = await scene.case()
    assert [seen.id for seen in case.observations] == [
        f"e{n}" for n in range(1, len(case.observations) + 1)
    ]
    assert case.observations[0].evidence.kind is EvidenceKind.ALERT


@pytest.mark.parametrize(
    "alert",
    [
        {"name": "web", "kind": "Deployment"},
        {"name": "web", "kind": ""},
        {"name": "web-1-a", "kind": ""},
        {"name": "web-1-a", "kind": "Pod"},
        {"name": "unknown", "kind": "", "pod": "web-1-a"},
        {"name": "web", "kind": "StatefulSet"},
        {"name": "web-6f8d7b9c5-k2m4n", "kind": "Pod", "pod": "web-6f8d7b9c5-k2m4n"},
    ],
    ids=str,
)
async def test_every_way_to_name_a_workload_leads_to_it(scene, alert):
    web(scene)
    case = await scene.case(scene.alert(**alert))
    assert case.workload == WEB
    assert [pod.data.ref.name for pod in case.pods] == ["web-1-a"]


async def test_a_service_leads_to_the_workload_behind_it(scene):
    web(scene)
    scene.add("Service", "entry", {"selector": {"app": "web"}})
    case = await scene.case(scene.alert("entry", "Service"))
    assert (case.workload, case.named.kind) == (WEB, "Service")


async def test_a_pod_whose_owner_is_not_shown_is_still_looked_at(scene):
    scene.pod(**READY)
    case = await scene.case(scene.alert("web-1-a", "Pod"))
    assert case.workload == ObjectRef(kind="ReplicaSet", namespace="shop", name="web-1")
    assert [pod.data.ref.name for pod in case.pods] == ["web-1-a"]
    assert "the cluster does not show it" in str(missing(case))


async def test_the_pods_of_a_workload_that_was_not_recorded_are_still_its_pods(scene):
    scene.pod(**READY)
    scene.objects[-1]["metadata"]["ownerReferences"] = [
        {"kind": "Job", "name": "nightly", "controller": True}
    ]
    case = await scene.case(scene.alert("", "", job_name="nightly", namespace="shop"))
    assert case.workload == ObjectRef(kind="Job", namespace="shop", name="nightly")
    assert [pod.data.ref.name for pod in case.pods] == ["web-1-a"]


async def test_a_pod_that_nobody_owns_is_the_workload(scene):
    scene.pod(**READY)
    del scene.objects[-1]["metadata"]["ownerReferences"]
    case = await scene.case(scene.alert("web-1-a", "Pod"))
    assert case.workload_manifest.data.ref.kind == "Pod"
    assert len(case.pods) == 1


async def test_an_alert_about_nothing_that_is_known_says_so(scene):
    web(scene)
    case = await scene.case(scene.alert("other", ""))
    assert case.workload is None
    assert "the cluster knows nothing by that name" in str(missing(case))
    report = conclude(case, [], 1, frozenset())
    assert report.why.startswith("The cluster knows no object that the alert points at.")


async def test_a_cluster_that_does_not_answer_is_never_taken_for_healthy(
    scene, history, clock, budget
):
    world = World(OneCluster(UnseenCluster("the wire is cut")), history([]), clock)
    case = await collectors.collect(scene.alert(), world, budget)
    report = conclude(case, [], 1, frozenset())
    assert report.why.startswith("The cluster was not seen, so nobody knows how it is: the wire")
    assert "the wire is cut" in str(missing(case))


async def test_an_alert_without_a_workload_says_so(scene):
    alert = scene.alert().model_copy(update={"workload": None})
    assert "it names no workload" in str(missing(await scene.case(alert)))


async def test_pods_in_trouble_come_first_and_the_others_are_counted(scene):
    scene.deployment()
    for number in range(12):
        scene.pod(f"web-1-{number:02}", **(TROUBLED if number == 11 else READY))
    case = await scene.case()
    assert len(case.pods) == 10
    assert case.pods[0].data.ref.name == "web-1-11"
    assert "2 more pods in less trouble were left out" in str(missing(case))


async def test_both_logs_of_a_container_in_trouble_are_read(scene):
    web(scene, **TROUBLED)
    scene.log("now", previous=False)
    scene.log("before")
    case = await scene.case()
    assert {(log.data.previous, log.data.text) for log in case.logs} == {
        (False, "now"),
        (True, "before"),
    }


async def test_a_log_that_is_not_kept_is_missing_and_not_empty(scene):
    web(scene, **TROUBLED)
    case = await scene.case()
    assert case.logs == ()
    assert [excerpt for _, excerpt in missing(case) if excerpt == "no such log is kept"]


async def test_a_message_that_repeats_is_one_event(scene):
    web(scene)
    scene.event("BackOff", "restarting")
    scene.event("BackOff", "restarting", at="2026-03-02T09:10:00Z")
    (event,) = (await scene.case()).events()
    assert event.data.last_seen.minute == 10


async def test_what_a_recording_shows_is_as_old_as_the_recording(scene):
    web(scene, **TROUBLED)
    scene.event("BackOff", "restarting")
    scene.log("before")
    scene.commit(("spec", "replicas"), 1, 2)
    case = await scene.case()
    written = max(path.stat().st_mtime_ns for path in scene.folder.rglob("*") if path.is_file())
    recorded = datetime.fromtimestamp(written / 1e9, UTC)
    seen = {(one.evidence.kind, one.evidence.at) for one in case.observations}
    shown = {EvidenceKind.OBJECT, EvidenceKind.POD, EvidenceKind.EVENT, EvidenceKind.LOG}
    asked = {EvidenceKind.ALERT, EvidenceKind.COMMIT, EvidenceKind.MISSING}
    assert seen == {(kind, recorded) for kind in shown} | {(kind, NOW) for kind in asked}


async def test_a_cluster_that_is_no_recording_is_seen_now(scene, history, clock, budget):
    web(scene)
    world = World(OneCluster(Live(scene.cluster())), history([]), clock)
    case = await collectors.collect(scene.alert(), world, budget)
    assert {one.evidence.at for one in case.observations} == {NOW}


@pytest.mark.parametrize("question", ["get", "list", "events", "logs"])
async def test_a_question_that_fails_is_missing_and_the_rest_is_seen(
    scene, history, clock, budget, question
):
    web(scene, **TROUBLED)
    cluster = Broken(scene.cluster(), question, ClusterError("the API server hung up"))
    case = await collectors.collect(
        scene.alert(), World(OneCluster(cluster), history([]), clock), budget
    )
    assert "the API server hung up" in str(missing(case))
    assert case.observations[0].evidence.kind is EvidenceKind.ALERT


async def test_a_repository_that_cannot_be_read_is_missing(scene, history, clock, budget):
    web(scene)
    broken = Broken(history([]), "recent_changes", TransientError("git is locked"))
    case = await collectors.collect(
        scene.alert(), World(OneCluster(scene.cluster()), broken, clock), budget
    )
    assert "git is locked" in str(missing(case))
    assert len(case.pods) == 1


async def test_a_spent_budget_is_said_and_ends_the_questions(scene, history, clock):
    web(scene, **TROUBLED)
    world = World(OneCluster(scene.cluster()), history([]), clock)
    case = await collectors.collect(scene.alert(), world, Budget(6, 30, lambda: 0.0))
    assert "the 6 calls of the investigation are made" in str(missing(case))


async def test_a_cluster_that_never_answers_does_not_hold_up_the_run(scene, history, clock):
    world = World(OneCluster(Silent()), history([]), clock)
    case = await collectors.collect(scene.alert(), world, Budget(6, 0.01, lambda: 0.0))
    assert "no answer before the time of the investigation was over" in str(missing(case))


async def test_what_could_not_be_seen_never_looks_healthy(scene, history, clock, budget):
    world = World(
        OneCluster(Broken(scene.cluster(), "get", ClusterError("gone"))), history([]), clock
    )
    case = await collectors.collect(scene.alert(), world, budget)
    findings = analyzers.analyze(case, analyzers.load())
    assert isinstance(conclude(case, findings, 1, frozenset()), InconclusiveReport)


async def test_no_excerpt_shows_what_may_be_a_secret(scene):
    scene.container |= {
        "env": [{"name": "PASSWORD", "value": "correct-horse"}],
        "args": ["--token=correct-horse"],
        "livenessProbe": {
            "httpGet": {"port": 80, "httpHeaders": [{"name": "X-Key", "value": "correct-horse"}]}
        },
    }
    web(scene, **TROUBLED)
    scene.log("connecting to postgres://web:correct-horse@db/shop")
    scene.commit(
        ("spec", "template", "spec", "containers", "[name=app]", "env", "[name=A]", "value"),
        "correct-horse",
        "correct-horse-2",
    )
    case = await scene.case()
    assert case.logs
    assert "correct-horse" not in "".join(seen.evidence.excerpt for seen in case.observations)


async def test_an_excerpt_is_cleaned_and_capped(scene):
    web(scene, **TROUBLED)
    scene.log("\x1b[31mred\u202e" + "x" * 9000)
    (log,) = (await scene.case()).logs
    assert log.evidence.truncated
    assert len(log.evidence.excerpt) == EXCERPT
    assert log.evidence.excerpt.startswith("redxxx")
