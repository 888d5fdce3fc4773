import pytest
import yaml

from tocsin_cluster.owners import pods_of, root_owner
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import ObjectRef
from tocsin_testing.fixed_cluster import FixedCluster


def ref(kind, name):
    return ObjectRef(kind=kind, namespace="shop", name=name)


def thing(kind, name, owner=None, labels=None):
    metadata = {"name": name, "namespace": "shop", "labels": labels or {}}
    if owner:
        metadata["ownerReferences"] = [{"kind": owner[0], "name": owner[1], "controller": True}]
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


@pytest.fixture
def recorded(tmp_path):
    def record(*things):
        (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(things))
        return SnapshotCluster(tmp_path)

    return record


async def test_a_pod_leads_through_its_replica_set_to_the_deployment(recorded):
    cluster = recorded(
        thing("Pod", "web-5d9-abcde", ("ReplicaSet", "web-5d9")),
        thing("ReplicaSet", "web-5d9", ("Deployment", "web")),
        thing("Deployment", "web"),
    )
    assert await root_owner(cluster, ref("Pod", "web-5d9-abcde")) == ref("Deployment", "web")


async def test_a_pod_of_a_cron_job_leads_through_the_job(recorded):
    cluster = recorded(
        thing("Pod", "backup-28391020-x7k2p", ("Job", "backup-28391020")),
        thing("Job", "backup-28391020", ("CronJob", "backup")),
        thing("CronJob", "backup"),
    )
    owner = await root_owner(cluster, ref("Pod", "backup-28391020-x7k2p"))
    assert owner == ref("CronJob", "backup")


@pytest.mark.parametrize(("kind", "pod"), [("StatefulSet", "db-0"), ("DaemonSet", "db-x7k2p")])
async def test_a_pod_leads_straight_to_its_set(recorded, kind, pod):
    cluster = recorded(thing("Pod", pod, (kind, "db")), thing(kind, "db"))
    assert await root_owner(cluster, ref("Pod", pod)) == ref(kind, "db")


async def test_a_pod_that_nobody_runs_is_its_own_root(recorded):
    cluster = recorded(thing("Pod", "debug-shell"), thing("Deployment", "debug"))
    assert await root_owner(cluster, ref("Pod", "debug-shell")) == ref("Pod", "debug-shell")


async def test_the_name_bridges_a_replica_set_that_was_not_recorded(recorded):
    cluster = recorded(
        thing("Pod", "web-5d9-abcde", ("ReplicaSet", "web-5d9")), thing("Deployment", "web")
    )
    assert await root_owner(cluster, ref("Pod", "web-5d9-abcde")) == ref("Deployment", "web")


@pytest.mark.parametrize(
    ("pod", "kind", "owner"),
    [
        ("web-api-6f8d7b9c5-k2m4n", "Deployment", "web-api"),
        ("db-0", "StatefulSet", "db"),
        ("agent-k2m4n", "DaemonSet", "agent"),
        ("import-k2m4n", "Job", "import"),
    ],
)
async def test_a_pod_that_is_gone_is_found_by_name_if_the_cluster_agrees(
    recorded, pod, kind, owner
):
    assert await root_owner(recorded(thing(kind, owner)), ref("Pod", pod)) == ref(kind, owner)


@pytest.mark.parametrize(("pod", "kind"), [("x-0", "StatefulSet"), ("x-abcde", "DaemonSet")])
async def test_of_two_sets_of_one_name_the_end_of_the_name_says_which(recorded, pod, kind):
    cluster = recorded(thing("StatefulSet", "x"), thing("DaemonSet", "x"))
    assert await root_owner(cluster, ref("Pod", pod)) == ref(kind, "x")


async def test_a_name_alone_proves_nothing(recorded):
    cluster = recorded(thing("Deployment", "unrelated"))
    gone = ref("Pod", "web-6f8d7b9c5-k2m4n")
    assert await root_owner(cluster, gone) == gone


async def test_owners_that_own_each_other_do_not_hang_the_walk(recorded):
    cluster = recorded(thing("Widget", "a", ("Widget", "b")), thing("Widget", "b", ("Widget", "a")))
    assert (await root_owner(cluster, ref("Widget", "a"))).kind == "Widget"


async def test_the_pods_of_a_deployment_are_those_of_all_its_replica_sets(recorded):
    cluster = recorded(
        thing("Deployment", "web"),
        thing("ReplicaSet", "web-old", ("Deployment", "web")),
        thing("ReplicaSet", "web-new", ("Deployment", "web")),
        thing("ReplicaSet", "webhook-1", ("Deployment", "webhook")),
        thing("Pod", "web-old-1", ("ReplicaSet", "web-old")),
        thing("Pod", "web-new-1", ("ReplicaSet", "web-new")),
        thing("Pod", "webhook-1-1", ("ReplicaSet", "webhook-1")),
    )
    workload = await cluster.get(ref("Deployment", "web"))
    pods = await pods_of(cluster, workload)
    assert [pod.ref.name for pod in pods] == ["web-new-1", "web-old-1"]


async def test_the_template_hash_bridges_a_replica_set_that_was_not_recorded(recorded):
    labels = {"pod-template-hash": "5d9"}
    cluster = recorded(
        thing("Deployment", "web"),
        thing("Pod", "web-5d9-a", ("ReplicaSet", "web-5d9"), labels),
        thing("Pod", "web-x-5d9-a", ("ReplicaSet", "web-x-5d9"), labels),
    )
    workload = await cluster.get(ref("Deployment", "web"))
    pods = await pods_of(cluster, workload)
    assert [pod.ref.name for pod in pods] == ["web-5d9-a"]


async def test_a_pod_runs_itself(recorded):
    cluster = recorded(thing("Pod", "alone"))
    workload = await cluster.get(ref("Pod", "alone"))
    assert await pods_of(cluster, workload) == (workload,)


ROLLED = {"rollouts-pod-template-hash": "5d9"}
DEPLOYED = {"pod-template-hash": "5d9"}


@pytest.mark.parametrize("recorded_between", [True, False])
async def test_the_pods_of_a_rollout_are_told_from_those_of_a_deployment_of_its_name(
    recorded, recorded_between
):
    between = [thing("ReplicaSet", "web-5d9", ("Rollout", "web"), ROLLED)]
    cluster = recorded(
        thing("Rollout", "web"),
        thing("Deployment", "web"),
        *(between if recorded_between else ()),
        thing("Pod", "web-5d9-a", ("ReplicaSet", "web-5d9"), ROLLED),
        thing("Pod", "web-7c8-a", ("ReplicaSet", "web-7c8"), {"pod-template-hash": "7c8"}),
    )
    workload = await cluster.get(ref("Rollout", "web"))
    assert [pod.ref.name for pod in await pods_of(cluster, workload)] == ["web-5d9-a"]


@pytest.mark.parametrize(("labels", "kind"), [(ROLLED, "Rollout"), (DEPLOYED, "Deployment")])
async def test_of_two_workloads_of_one_name_the_mark_of_the_pod_says_which(recorded, labels, kind):
    cluster = recorded(
        thing("Pod", "web-5d9-abcde", labels=labels),
        thing("Deployment", "web"),
        thing("Rollout", "web"),
    )
    assert await root_owner(cluster, ref("Pod", "web-5d9-abcde")) == ref(kind, "web")


async def test_without_a_mark_a_deployment_and_a_rollout_of_one_name_are_a_tie(recorded):
    cluster = recorded(thing("Deployment", "web"), thing("Rollout", "web"))
    gone = ref("Pod", "web-5d9c8b7-abcde")
    assert await root_owner(cluster, gone) == gone
    alone = recorded(thing("Rollout", "other"))
    named = ref("Pod", "other-5d9c8b7-abcde")
    assert await root_owner(alone, named) == ref("Rollout", "other")


async def test_a_cluster_without_rollouts_is_looked_through_all_the_same():
    things = [thing("Deployment", "web"), thing("CronJob", "backup")]
    cluster = FixedCluster(things, denied=["Rollout"])
    for pod, owner in (
        ("web-5d9c8b7-abcde", "Deployment/web"),
        ("backup-1234567-abcde", "CronJob/backup"),
    ):
        kind, name = owner.split("/")
        assert await root_owner(cluster, ref("Pod", pod)) == ref(kind, name)


async def test_a_rollout_has_the_containers_of_its_template(recorded):
    raw = thing("Rollout", "web")
    raw["spec"] = {"template": {"spec": {"containers": [{"name": "api"}]}}}
    rollout = await recorded(raw).get(ref("Rollout", "web"))
    (container,) = rollout.containers()
    assert container.path == ("spec", "template", "spec", "containers", "[name=api]")
