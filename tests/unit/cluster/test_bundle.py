from pathlib import Path

import pytest

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.port import EVERYWHERE, Usage
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import ObjectRef

BUNDLE = Path(__file__).parent / "bundle"


def ref(kind, name, namespace="shop"):
    return ObjectRef(kind=kind, namespace=namespace, name=name)


POD = ref("Pod", "web-7d9c5b6f4-x2k4p")


@pytest.fixture(scope="module")
def cluster():
    return SnapshotCluster(BUNDLE)


async def shown(cluster, kind, name, *path, namespace="shop"):
    found = await cluster.get(ref(kind, name, namespace))
    assert found is not None
    return found.dig(*path)


async def test_a_described_pod_is_a_pod(cluster):
    pod = await cluster.get(POD)
    app = pod.container("app")
    assert pod.owner.name == "web-7d9c5b6f4"
    assert pod.dig("status", "containerStatuses", 0, "restartCount") == 4
    assert pod.dig("status", "containerStatuses", 0, "state") == {
        "waiting": {"reason": "CrashLoopBackOff"}
    }
    assert pod.dig("status", "containerStatuses", 0, "lastState", "terminated", "exitCode") == 137
    assert app.dig("livenessProbe", "httpGet") == {
        "scheme": "HTTP",
        "path": "/healthz",
        "port": 8080,
    }
    assert app.dig("readinessProbe", "exec", "command") == ["cat", "/tmp/ready"]
    assert app.dig("startupProbe", "failureThreshold") == 30
    assert app.dig("resources", "limits") == {"cpu": "500m", "memory": "128Mi"}
    assert app.dig("env", 1, "valueFrom", "secretKeyRef") == {"name": "db", "key": "password"}
    assert app.dig("envFrom", 0, "configMapRef", "name") == "web-config"
    assert pod.dig("spec", "volumes", 0, "persistentVolumeClaim", "claimName") == "web-data"
    assert pod.dig("spec", "nodeSelector") == {"disk": "ssd"}


async def test_the_events_below_a_description_are_about_its_object(cluster):
    told = {(e.reason, e.count) for e in await cluster.events(POD)}
    assert told == {("Unhealthy", 9), ("BackOff", 12), ("FailedScheduling", 9)}


async def test_a_table_of_events_says_about_what_each_is(cluster):
    (event,) = [e for e in await cluster.events(ref("Node", "n1", "")) if "NotReady" in e.reason]
    assert event == ClusterEvent(
        about=ref("Node", "n1", ""),
        type="Normal",
        reason="NodeNotReady",
        message="Node n1 status is now: NodeNotReady",
        count=1,
        last_seen=None,
    )


async def test_several_objects_of_one_description_are_told_apart(cluster):
    assert await shown(cluster, "Service", "web", "spec", "selector") == {
        "app": "web",
        "tier": "front",
    }
    assert await shown(cluster, "Service", "web", "spec", "ports", 0, "targetPort") == 8080
    assert await shown(cluster, "Endpoints", "web", "subsets") == []
    assert await shown(cluster, "Endpoints", "db", "subsets", 0, "ports") == [{"port": 5432}]


@pytest.mark.parametrize(
    ("kind", "name", "path", "value"),
    [
        ("Deployment", "web", ("status", "updatedReplicas"), 1),
        ("Deployment", "web", ("status", "conditions", 1, "reason"), "ProgressDeadlineExceeded"),
        ("HorizontalPodAutoscaler", "web", ("spec", "maxReplicas"), 5),
        ("HorizontalPodAutoscaler", "web", ("status", "conditions", 1, "status"), "False"),
        ("ResourceQuota", "compute", ("status", "used", "limits.cpu"), "2"),
        ("Ingress", "web", ("spec", "rules", 0, "http", "paths", 1, "path"), "/api"),
        ("StatefulSet", "db", ("status", "readyReplicas"), 1),
        ("Pod", "job-abcde", ("status", "phase"), "Succeeded"),
        ("Pod", "web-7d9c5b6f4-x2k4p", ("metadata", "labels", "app"), "web"),
        ("PersistentVolumeClaim", "web-data", ("spec", "storageClassName"), "fast"),
        ("PersistentVolumeClaim", "web-data", ("status", "phase"), "Pending"),
        ("PersistentVolumeClaim", "old", ("spec", "accessModes"), ["ReadWriteOnce"]),
    ],
)
async def test_what_a_text_says_is_where_the_api_has_it(cluster, kind, name, path, value):
    assert await shown(cluster, kind, name, *path) == value


async def test_a_node_has_its_taints_conditions_and_sizes(cluster):
    node = await cluster.get(ref("Node", "n1", ""))
    assert node.dig("spec", "taints", 0) == {
        "key": "dedicated",
        "value": "gpu",
        "effect": "NoSchedule",
    }
    assert node.dig("spec", "unschedulable") is True
    assert node.dig("status", "conditions", 0, "type") == "MemoryPressure"
    assert node.dig("status", "allocatable", "cpu") == "1930m"


async def test_the_default_storage_class_is_known_by_its_own_name(cluster):
    found = await cluster.get(ref("StorageClass", "standard", ""))
    assert found.dig("metadata", "annotations") == {
        "storageclass.kubernetes.io/is-default-class": "true"
    }


async def test_what_is_used_is_no_object(cluster):
    assert await cluster.usage("shop") == (
        Usage(about=ref("Pod", "db-0"), container="db", cpu=0.012, memory=256 * 2.0**20),
    )
    (node,) = await cluster.usage("")
    assert (node.about.name, node.cpu_share, node.memory_share) == ("n1", 0.96, 0.98)
    assert await cluster.get(ref("Pod", "db")) is None


async def test_a_whole_object_wins_and_others_fill_its_gaps(cluster):
    web = await cluster.get(ref("Deployment", "web"))
    assert web.whole
    assert web.dig("spec", "replicas") == 3
    assert web.container("app").raw["image"] == "reg.example/shop/web:3"


async def test_of_a_printed_secret_no_value_is_kept(cluster):
    assert await shown(cluster, "Secret", "db", "data") == {"password": ""}
    assert "aHVzaA" not in repr(vars(cluster))


async def test_logs_and_what_other_programs_say_stay_text(cluster):
    texts = {one.command.text: one for one in await cluster.printed()}
    log = texts["kubectl logs web-7d9c5b6f4-x2k4p -c app --previous -n shop"]
    assert log.command.previous
    assert texts["systemctl status kubelet"].command.tool == "systemctl"


async def test_everywhere_is_every_namespace(cluster):
    assert len(await cluster.list("Pod", EVERYWHERE)) == 5
    assert await cluster.list("Pod", "other") == ()


@pytest.mark.parametrize(
    ("file", "text", "command"),
    [
        ("a.txt", "$ kubectl get pods -n shop\nNAME\n", "kubectl get pods -n shop"),
        ("kubectl get pods -n shop", "NAME\n", "kubectl get pods -n shop"),
        ("kubectl_get_pods_-n_shop.txt", "NAME\n", "kubectl get pods -n shop"),
        ("named.out", "NAME\n", "kubectl get pods -n shop"),
    ],
)
async def test_a_text_says_its_command_in_each_way(tmp_path, file, text, command):
    (tmp_path / file).write_text(text)
    (tmp_path / "index.yaml").write_text("files: {named.out: kubectl get pods -n shop}")
    (printed,) = await SnapshotCluster(tmp_path).printed()
    assert printed.command.text == command


async def test_what_was_pasted_with_its_prompts_is_several_texts(tmp_path):
    (tmp_path / "paste.txt").write_text(
        "$ kubectl get pods -n shop\nNAME  READY  STATUS\na  1/1  Running\n"
        "$ kubectl logs a -n shop\n$ kubectl in a log\n"
    )
    texts = await SnapshotCluster(tmp_path).printed()
    assert [one.command.verb for one in texts] == ["get", "logs", "in"]


@pytest.mark.parametrize(
    ("index", "others", "namespace"),
    [
        ("namespace: shop", {}, "shop"),
        ("", {"kubectl get svc -n shop.txt": ""}, "shop"),
        ("", {"kubectl get svc -n a.txt": "", "kubectl get svc -n b.txt": ""}, "default"),
    ],
)
async def test_a_namespace_that_nothing_names_is_the_usual_one(tmp_path, index, others, namespace):
    (tmp_path / "index.yaml").write_text(index)
    (tmp_path / "kubectl get pods.txt").write_text("NAME  READY  STATUS\nweb-0  1/1  Running\n")
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    assert await SnapshotCluster(tmp_path).get(ref("Pod", "web-0", namespace))


async def test_an_index_that_is_none_says_what_a_right_one_looks_like(tmp_path):
    (tmp_path / "index.yaml").write_text("- kubectl get pods")
    with pytest.raises(ClusterError, match="is no index; write"):
        SnapshotCluster(tmp_path)
