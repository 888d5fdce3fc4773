"""Cures that are more than another value: what is added, taken away, or changed in two places."""

import pytest

from tocsin_contracts import ChangeOp
from tocsin_rca.analyzers.autoscaler_metrics import AutoscalerMetrics
from tocsin_rca.analyzers.node_labels import NodeLabels
from tocsin_rca.analyzers.probe_request import ProbeRequest
from tocsin_rca.analyzers.rbac import Rbac
from tocsin_rca.analyzers.reference import MissingReference
from tocsin_rca.analyzers.volume_rights import VolumeRights
from tocsin_rca.evidence.remedy import inserted, words
from tocsin_testing import build

REPLICAS = ("spec", "replicas")
POD = ("spec", "template", "spec")
APP = (*POD, "containers", "[name=app]")


def secret(scene, name, *keys):
    scene.add("Secret", name)
    scene.objects[-1]["data"] = dict.fromkeys(keys, "eA==")


def asks_for(scene, *keys, name="database"):
    env = [{"name": k, "valueFrom": {"secretKeyRef": {"name": name, "key": k}}} for k in keys]
    scene.container = scene.container | {"env": env}
    scene.deployment()
    scene.pod()
    scene.event("Failed", f'Error: secret "{name}" not found')


async def found(scene, analyzer):
    (finding,) = analyzer.analyze(await scene.case())
    return finding


async def test_a_secret_by_a_wrong_name_is_put_right_in_every_place(scene):
    asks_for(scene, "user", "password", name="db-credential")
    secret(scene, "db-credentials", "user", "password")
    finding = await found(scene, MissingReference())
    places = [(change.path[-4], change.new) for change in finding.changes]
    assert places == [("[name=user]", "db-credentials"), ("[name=password]", "db-credentials")]
    assert len(finding.evidence) == 3


async def test_the_one_secret_with_every_key_is_meant_whatever_its_name(scene):
    asks_for(scene, "user", "password")
    secret(scene, "pg", "user", "password")
    secret(scene, "smtp", "user")
    assert [change.new for change in (await found(scene, MissingReference())).changes] == [
        "pg",
        "pg",
    ]


@pytest.mark.parametrize(
    "others",
    [
        [("pg", "user", "password"), ("my", "user", "password")],
        [("pg", "user")],
        [("pg", "user", "password"), ("unknown",)],
    ],
    ids=["two", "half", "unknown keys"],
)
async def test_a_secret_that_is_not_surely_meant_is_not_named(scene, others):
    asks_for(scene, "user", "password")
    for name, *keys in others:
        secret(scene, name, *keys)
    assert (await found(scene, MissingReference())).changes == ()


async def test_one_key_alone_tells_nothing_of_which_secret_is_meant(scene):
    asks_for(scene, "password")
    secret(scene, "pg", "password")
    assert (await found(scene, MissingReference())).changes == ()


def unscheduled(scene, selector, *labels):
    template = {"metadata": {"labels": scene.labels}}
    template["spec"] = {"containers": [scene.container], "nodeSelector": selector}
    scene.add("Deployment", "web", {"template": template})
    scene.pod(node="", phase="Pending", ready=False)
    said = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    scene.event("FailedScheduling", said)
    for index, one in enumerate(labels):
        scene.add("Node", f"n{index}", labels=one)


@pytest.mark.parametrize(
    ("selector", "labels", "gone"),
    [
        ({"team": "web"}, {"kubernetes.io/os": "linux"}, True),
        ({"team": "web"}, {"team": "billing"}, False),
        ({"gpu": "a100"}, {"kubernetes.io/os": "linux"}, False),
        ({"cloud.example/pool": "fast"}, {"kubernetes.io/os": "linux"}, False),
    ],
)
async def test_a_label_of_which_no_node_knows_is_no_longer_asked_for(scene, selector, labels, gone):
    unscheduled(scene, selector, labels)
    change = (await found(scene, NodeLabels())).change
    assert (change is not None and change.op is ChangeOp.DELETE) is gone
    if gone:
        assert (change.path, change.old) == ((*POD, "nodeSelector", "team"), "web")


@pytest.mark.parametrize(
    ("command", "gone"), [(["sh", "-c", "exit 1"], True), (["sh", "-c", "test -f /x"], False)]
)
async def test_a_probe_that_can_never_pass_is_taken_away(scene, command, gone):
    probe = {"exec": {"command": command}, "periodSeconds": 5}
    scene.container = scene.container | {"readinessProbe": probe}
    scene.deployment()
    scene.pod(ready=False)
    scene.event("Unhealthy", "Readiness probe failed: ")
    change = (await found(scene, ProbeRequest())).change
    assert (change is not None) is gone
    if gone:
        assert (change.op, change.path) == (ChangeOp.DELETE, (*APP, "readinessProbe"))
        assert change.before == probe


def locked(scene, **container):
    scene.container = scene.container | {"securityContext": {"readOnlyRootFilesystem": True}}
    scene.container |= container
    scene.deployment()
    scene.pod(restartCount=3, lastState={"terminated": {"exitCode": 1, "reason": "Error"}})


async def test_a_program_with_a_read_only_root_is_given_room_where_it_writes(scene):
    locked(scene)
    scene.log("OSError: [Errno 30] Read-only file system: '/tmp/web.sock'")
    volume, mount = (await found(scene, VolumeRights())).changes
    assert (volume.path, volume.after) == ((*POD, "volumes"), [{"name": "tmp", "emptyDir": {}}])
    assert (mount.path, mount.after) == (
        (*APP, "volumeMounts"),
        [{"name": "tmp", "mountPath": "/tmp"}],
    )


@pytest.mark.parametrize(
    ("path", "container"),
    [
        ("/app/data/x", {}),
        ("/etc/x", {}),
        ("/tmpfile", {}),
        ("/tmp/../etc/x", {}),
        ("/tmp/x", {"volumeMounts": [{"name": "t", "mountPath": "/tmp"}]}),
        ("/tmp/x", {"securityContext": {}}),
    ],
)
async def test_no_files_of_an_image_are_hidden_by_a_volume(scene, path, container):
    locked(scene, **container)
    scene.log(f"OSError: [Errno 30] Read-only file system: '{path}'")
    assert (await found(scene, VolumeRights())).changes == ()


def autoscaled(scene, **container):
    scene.container = scene.container | container
    scene.deployment()
    scene.pod(ready=True)
    said = "failed to get cpu utilization: missing request for cpu in container app of Pod web-1-a"
    scene.add(
        "HorizontalPodAutoscaler",
        "web",
        {"scaleTargetRef": {"kind": "Deployment", "name": "web"}},
        {"conditions": [{"type": "ScalingActive", "status": "False", "message": said}]},
    )


async def test_a_container_that_an_autoscaler_measures_requests_something(scene):
    autoscaled(scene)
    change = (await found(scene, AutoscalerMetrics())).change
    assert (change.op, change.path) == (ChangeOp.INSERT, (*APP, "resources", "requests", "cpu"))
    assert change.new == "100m"


async def test_a_container_that_has_a_limit_requests_it_already(scene):
    autoscaled(scene, resources={"limits": {"cpu": "1"}})
    assert (await found(scene, AutoscalerMetrics())).change is None


RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


def denied(scene):
    scene.add("Deployment", "web", {"template": {"spec": {"serviceAccountName": "web"}}})
    scene.add("Role", "reader")
    scene.objects[-1]["rules"] = [RULE]
    scene.add("RoleBinding", "reader")
    scene.objects[-1]["roleRef"] = {"kind": "Role", "name": "reader"}
    scene.objects[-1]["subjects"] = [{"kind": "ServiceAccount", "name": "web"}]
    scene.pod(ready=False)
    scene.event("Failed", said("list"))


def said(verb: str) -> str:
    return (
        f'pods is forbidden: User "system:serviceaccount:shop:web" cannot {verb} resource "pods"'
        ' in API group "" in the namespace "shop"'
    )


async def test_no_right_is_ever_given_by_a_change(scene):
    denied(scene)
    finding = await found(scene, Rbac())
    assert (finding.object.kind, finding.object.name) == ("Role", "reader")
    assert "list pods" in finding.summary
    assert finding.changes == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"old": 1, "new": 2}, "1 -> 2"),
        ({"op": ChangeOp.INSERT, "old": None, "new": 2}, "add 2"),
        (
            {"op": ChangeOp.APPEND, "old": None, "old_tree": [], "new": None, "new_tree": {}},
            "add {} to []",
        ),
        ({"op": ChangeOp.DELETE, "old": 1, "new": None}, "remove 1"),
    ],
)
def test_a_change_is_told_on_one_line(change, told):
    one = build.field_change(path=REPLICAS, **change)
    assert words(one) == f"Deployment payments/payments-api spec.replicas: {told}"


def test_a_cure_that_is_too_much_for_one_change_is_none():
    assert inserted(build.field_change().object, REPLICAS, ["x"] * 300) is None
