"""Who is behind a pod or a name: owners first, selectors next, and names only at the end."""

import pytest

from tocsin_contracts import ObjectRef, Workload
from tocsin_testing import build
from tocsin_testing.fixed_cluster import FixedCluster
from tocsin_validation.resolving.answers import Trace
from tocsin_validation.resolving.identity import behind, of_alert, of_object
from tocsin_validation.resolving.promoting import on_owner

SPACE = "shop"


def ref(kind, name):
    return ObjectRef(kind=kind, namespace=SPACE, name=name)


def made(kind, name, owner=None, labels=None, **spec):
    about = {"name": name, "namespace": SPACE, "uid": f"{kind}-{name}", "labels": labels or {}}
    if owner:
        above, called = owner.split("/")
        about["ownerReferences"] = [{"kind": above, "name": called, "controller": True}]
    return {"kind": kind, "metadata": about, "spec": spec}


@pytest.mark.parametrize(
    ("pod", "likeliest"),
    [
        ("my-app", ("Deployment", "my-app")),
        ("web-frontend", ("Deployment", "web-frontend")),
        ("web-frontend-7d9c8b6f5d-x2k9p", ("Deployment", "web-frontend")),
        ("web-frontend-7d9c6-abcde", ("Deployment", "web-frontend")),
        ("payments-api-bcdfghjklm-nqrst", ("Deployment", "payments-api")),
        ("x-0", ("StatefulSet", "x")),
        ("postgres-main-12", ("StatefulSet", "postgres-main")),
        ("node-exporter-x7k2p", ("DaemonSet", "node-exporter")),
        ("node-exporter-bcdfg", ("DaemonSet", "node-exporter")),
        ("backup-28912345-k8s9x", ("CronJob", "backup")),
        ("backup-28912345", ("CronJob", "backup")),
        ("web-nginx", ("Deployment", "web-nginx")),
        ("api", ("Deployment", "api")),
    ],
)
def test_a_name_says_who_probably_made_it(pod, likeliest):
    assert behind(pod)[0] == likeliest


def test_a_daemon_set_is_told_from_a_stateful_set_and_both_from_a_word():
    assert ("DaemonSet", "x") in behind("x-abcde")
    assert "StatefulSet" not in {kind for kind, name in behind("x-abcde") if name == "x"}
    assert {kind for kind, name in behind("x-0") if name == "x"} == {"StatefulSet"}
    assert {name for _, name in behind("my-app")} == {"my-app"}


OWNED = [
    (
        made("Pod", "a-1-2", "ReplicaSet/a-1"),
        made("ReplicaSet", "a-1", "Deployment/a"),
        "Deployment",
    ),
    (made("Pod", "a-1-2", "ReplicaSet/a-1"), made("ReplicaSet", "a-1", "Rollout/a"), "Rollout"),
    (made("Pod", "a-1-2", "Job/a-1"), made("Job", "a-1", "CronJob/a"), "CronJob"),
    (made("Pod", "a-0", "StatefulSet/a"), made("StatefulSet", "a"), "StatefulSet"),
    (made("Pod", "a-x2x2x", "DaemonSet/a"), made("DaemonSet", "a"), "DaemonSet"),
]


@pytest.mark.parametrize(("pod", "between", "kind"), OWNED, ids=[one[2] for one in OWNED])
async def test_owner_references_lead_to_what_is_declared(pod, between, kind):
    view = FixedCluster([pod, between, made(kind, "a")])
    trace = Trace()
    who = await of_object(ref("Pod", pod["metadata"]["name"]), view, trace)
    assert who.object == ref(kind, "a")
    assert "by its owners" in trace.lines[0]


async def test_owners_win_over_what_a_name_looks_like():
    view = FixedCluster(
        [
            made("Pod", "web-0", "DaemonSet/web"),
            made("DaemonSet", "web"),
            made("StatefulSet", "web"),
        ]
    )
    who = await of_object(ref("Pod", "web-0"), view, Trace())
    assert who.object == ref("DaemonSet", "web")


async def test_a_pod_that_lost_its_owners_belongs_to_the_only_selector_that_picks_it():
    labels = {"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "shop"}
    picks = {"selector": {"matchLabels": {"app.kubernetes.io/name": "web"}}}
    other = {"selector": {"matchLabels": {"app.kubernetes.io/name": "api"}}}
    pod = made("Pod", "strange", labels=labels)
    view = FixedCluster(
        [pod, made("Deployment", "front", **picks), made("DaemonSet", "b", **other)]
    )
    assert (await of_object(ref("Pod", "strange"), view, Trace())).object == ref(
        "Deployment", "front"
    )
    twice = FixedCluster([*(o.raw for o in view.objects), made("StatefulSet", "front", **picks)])
    assert (await of_object(ref("Pod", "strange"), twice, Trace())).object == ref("Pod", "strange")


@pytest.mark.parametrize(
    ("mark", "kind"),
    [("rollouts-pod-template-hash", "Rollout"), ("pod-template-hash", "Deployment")],
)
async def test_a_pod_that_lost_its_owners_is_of_a_rollout_or_not_by_its_mark(mark, kind):
    picks = {"selector": {"matchLabels": {"app": "web"}}}
    pod = made("Pod", "strange", labels={"app": "web", mark: "5d9"})
    view = FixedCluster([pod, made("Deployment", "web", **picks), made("Rollout", "web", **picks)])
    assert (await of_object(ref("Pod", "strange"), view, Trace())).object == ref(kind, "web")


async def test_a_pod_without_a_mark_may_be_of_a_rollout_too():
    picks = {"selector": {"matchLabels": {"app": "web"}}}
    pod = made("Pod", "strange", labels={"app": "web"})
    of_rollout = FixedCluster([pod, made("Rollout", "web", **picks)])
    who = await of_object(ref("Pod", "strange"), of_rollout, Trace())
    assert who.object == ref("Rollout", "web")
    without = FixedCluster([pod, made("Deployment", "web", **picks)], denied=["Rollout"])
    who = await of_object(ref("Pod", "strange"), without, Trace())
    assert who.object == ref("Deployment", "web")


async def test_what_no_controller_made_is_itself_and_costs_no_walk():
    view = FixedCluster([made("Service", "web")])
    who = await of_object(ref("Service", "web"), view, Trace())
    assert who.object == ref("Service", "web")
    assert who.shown


async def test_a_cluster_that_is_away_leaves_the_name_and_says_so():
    trace = Trace()
    who = await of_object(ref("Pod", "web-0"), FixedCluster(denied=["Pod"]), trace)
    assert who.object == ref("Pod", "web-0")
    assert "not seen: Pod is forbidden" in trace.lines[0]


def alert(name="", kind="", **labels):
    workload = Workload(namespace=SPACE, name=name, kind=kind) if name else None
    return build.alert(workload=workload, labels={"namespace": SPACE, **labels})


async def nowhere(_):
    return False


ABOUT = [
    alert("web", "Deployment"),
    alert("web-7d9c8b6f5d-x2k9p", pod="web-7d9c8b6f5d-x2k9p"),
    alert("web"),
    alert(deployment="web"),
]


@pytest.mark.parametrize("about", ABOUT)
async def test_an_alert_is_about_the_workload_that_is_there(about):
    trace = Trace()
    view = FixedCluster([made("Deployment", "web"), made("Pod", "other-0")])
    who = await of_alert(about, view, nowhere, trace)
    assert who.object == ref("Deployment", "web")


async def test_a_guess_by_name_has_to_be_there():
    about = alert("web-7d9c8b6f5d-x2k9p", pod="web-7d9c8b6f5d-x2k9p")
    assert await of_alert(about, FixedCluster(), nowhere, Trace()) is None
    trace = Trace()
    view = FixedCluster([made("Rollout", "web")])
    assert (await of_alert(about, view, nowhere, trace)).object == ref("Rollout", "web")
    assert "by the name 'web-7d9c8b6f5d-x2k9p' alone" in trace.lines[0]


async def test_without_a_cluster_a_repository_has_to_declare_what_a_name_means():
    kinds = ["Pod", "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Rollout", "Job"]

    async def declared(one):
        return one == ref("StatefulSet", "db")

    about = alert("db-0", pod="db-0")
    who = await of_alert(about, FixedCluster(denied=kinds), declared, Trace())
    assert who.object == ref("StatefulSet", "db")


CARRIED = [
    ("Pod", "Deployment", ("spec", "containers"), ("spec", "template", "spec", "containers")),
    ("Pod", "Rollout", ("spec", "containers"), ("spec", "template", "spec", "containers")),
    (
        "Pod",
        "CronJob",
        ("spec", "containers"),
        ("spec", "jobTemplate", "spec", "template", "spec", "containers"),
    ),
    ("Job", "CronJob", ("spec", "backoffLimit"), ("spec", "jobTemplate", "spec", "backoffLimit")),
    ("ReplicaSet", "Deployment", ("spec", "template", "spec"), ("spec", "template", "spec")),
    ("ReplicaSet", "Deployment", ("spec", "replicas"), None),
    ("Pod", "Service", ("spec", "containers"), None),
]


@pytest.mark.parametrize(("made_kind", "owner", "path", "there"), CARRIED)
def test_a_change_of_what_was_made_becomes_one_of_its_owner(made_kind, owner, path, there):
    pod, above = ref(made_kind, "a"), ref(owner, "b")
    change = build.field_change(object=pod, path=path)
    moved = on_owner(build.finding(object=pod, change=change), pod, above)
    if there is None:
        assert moved is None
    else:
        assert (moved.object, moved.change.object, moved.change.path) == (above, above, there)
