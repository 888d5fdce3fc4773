import pytest

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import OneCluster, RecordedClusters
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import EvidenceKind, ObjectRef
from tocsin_rca import collectors
from tocsin_rca.collectors import around
from tocsin_rca.collectors.declarations import chosen, written
from tocsin_rca.ports import Declared, World

WEB = ObjectRef(kind="Deployment", namespace="shop", name="web")
DESCRIBED = """\
Name:             web-7d9c5b6f4-x2k4p
Namespace:        shop
Node:             n1/10.0.0.4
Labels:           app=web
Status:           Running
Controlled By:  ReplicaSet/web-7d9c5b6f4
Containers:
  app:
    Image:         reg.example/shop/web:2
    State:          Waiting
      Reason:       CrashLoopBackOff
    Ready:          False
    Restart Count:  4
Events:
  Type     Reason   Age               From     Message
  ----     ------   ----              ----     -------
  Warning  BackOff  30s (x12 over 9m) kubelet  Back-off restarting failed container
"""
DEPLOYMENT = {
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "app", "image": "reg.example/shop/web:2"}]},
        }
    },
}
FILES = {
    "web.yaml": b"kind: Deployment\nmetadata: {name: web}\n",
    "db.yaml": b"kind: StatefulSet\nmetadata: {name: db, namespace: shop}\n",
    "other.yaml": b"kind: Service\nmetadata: {name: web, namespace: elsewhere}\n",
    "far.yaml": b"kind: Service\nmetadata: {name: far, namespace: elsewhere}\n",
    "rules.yaml": b"kind: PrometheusRule\nmetadata: {name: r, namespace: monitoring}\n",
    "class.yaml": b"kind: StorageClass\nmetadata: {name: fast}\n",
    "broken.yaml": b"kind: [\n",
    "notes.md": b"kind: Deployment\nmetadata: {name: notes}\n",
}


class Files:
    """A history that knows what files declare, and no commit."""

    source = "git"

    def __init__(self, *raws):
        self._declared = tuple(Declared("shop/ops", "a" * 40, "w.yaml", Manifest(r)) for r in raws)

    async def recent_changes(self, target, *, cluster, limit):
        return ()

    async def declared(self, namespace, names, *, cluster, limit):
        return self._declared


@pytest.fixture
def look(tmp_path, clock, scene):
    """Collect a case of texts that were saved, and of what files declare."""

    async def collect(texts, *declared, alert=None):
        folder = tmp_path / "bundle"
        folder.mkdir()
        for name, text in texts.items():
            (folder / f"{name}.txt").write_text(text)
        world = World(OneCluster(SnapshotCluster(folder)), Files(*declared), clock)
        return await collectors.collect(alert or scene.alert(), world, Budget(500, 30, lambda: 0.0))

    return collect


async def test_a_description_alone_is_enough_for_a_case(look):
    case = await look({"kubectl describe pod web-7d9c5b6f4-x2k4p -n shop": DESCRIBED}, DEPLOYMENT)
    assert case.workload == WEB
    (sighting,) = case.containers
    assert sighting.status["restartCount"] == 4
    assert sighting.declared.raw["image"] == "reg.example/shop/web:2"
    (event,) = case.events(reason="BackOff", saying="failed container")
    assert event.data.count == 12


async def test_events_alone_are_enough_for_a_case(look):
    table = (
        "LAST SEEN   TYPE      REASON         OBJECT           MESSAGE\n"
        "2m          Warning   FailedCreate   replicaset/web-1 is forbidden: no account\n"
    )
    case = await look({"kubectl get events -n shop": table}, DEPLOYMENT)
    (event,) = case.events(reason=("FailedCreate", "FailedMount"))
    assert event.data.about == ObjectRef(kind="ReplicaSet", namespace="shop", name="web-1")


async def test_a_log_without_a_pod_is_a_log(look):
    case = await look({"kubectl logs -n shop --previous": "out of connections"}, DEPLOYMENT)
    (log,) = case.logs
    assert (log.data.pod, log.data.previous, log.data.text) == ("", True, "out of connections")


async def test_a_log_of_a_pod_is_of_its_only_container(look):
    texts = {
        "kubectl describe pod web-7d9c5b6f4-x2k4p -n shop": DESCRIBED,
        "kubectl logs web-7d9c5b6f4-x2k4p -n shop": "out of connections",
    }
    (log,) = (await look(texts, DEPLOYMENT)).logs
    assert (log.data.pod, log.data.container) == ("web-7d9c5b6f4-x2k4p", "app")


async def test_a_table_leaves_the_name_of_the_only_container_out(look):
    table = (
        "NAME                  READY   STATUS      RESTARTS\n"
        "web-7d9c5b6f4-x2k4p   0/1     OOMKilled   3\n"
    )
    case = await look({"kubectl get pods -n shop": table}, DEPLOYMENT)
    (sighting,) = case.containers
    assert (sighting.name, sighting.endings[0]["reason"]) == ("app", "OOMKilled")


async def test_what_other_programs_print_is_a_check_and_what_kubectl_prints_an_output(look):
    texts = {"systemctl status kubelet": "inactive", "kubectl describe networkpolicy -n shop": "x"}
    case = await look(texts, DEPLOYMENT)
    (check,), (output,) = case.checks, case.texts("describe", "NetworkPolicy")
    assert check.data.text == "inactive"
    assert (check.evidence.kind, output.evidence.kind) == (EvidenceKind.CHECK, EvidenceKind.OUTPUT)


async def test_texts_of_other_namespaces_are_not_looked_at(look):
    case = await look({"kubectl logs x -n other": "their secrets"}, DEPLOYMENT)
    assert case.logs == ()


async def test_what_is_used_is_known_by_pod(look):
    top = "NAME   CPU(cores)   MEMORY(bytes)\nweb-1  12m          256Mi\n"
    case = await look({"kubectl top pods -n shop": top}, DEPLOYMENT)
    (usage,) = case.usage
    assert usage.data.memory == 256 * 2**20
    assert usage.evidence.excerpt == "Pod shop/web-1: 0.012 cores 256Mi"


async def test_what_only_a_file_declares_is_known_to_be_only_declared(look):
    case = await look({}, DEPLOYMENT)
    assert case.object(WEB) is None
    assert case.manifest(WEB) is not None
    assert case.workload_manifest.evidence.kind is EvidenceKind.MANIFEST
    assert case.declaration(WEB).data.file == "w.yaml"
    assert [one.data.ref for one in case.manifests("Deployment")] == [WEB]


async def test_two_files_that_declare_one_object_are_no_answer(look):
    case = await look({}, DEPLOYMENT, DEPLOYMENT)
    assert case.declaration(WEB) is None
    assert len(case.declarations("Deployment")) == 2


async def test_a_node_in_trouble_is_looked_at_with_all_that_is_there(look, scene):
    alert = scene.alert(node="n1").model_copy(update={"workload": None, "labels": {"node": "n1"}})
    case = await look({"kubectl describe pod web -n shop": DESCRIBED}, alert=alert)
    assert case.named == ObjectRef(kind="Node", name="n1")
    assert len(case.objects("Pod")) == 1
    assert case.events(reason="BackOff")


@pytest.mark.parametrize(
    ("kind", "name", "spec"),
    [
        ("HorizontalPodAutoscaler", "h", {"scaleTargetRef": {"kind": "Deployment", "name": "web"}}),
        (
            "Ingress",
            "i",
            {"rules": [{"http": {"paths": [{"backend": {"service": {"name": "s"}}}]}}]},
        ),
        ("PersistentVolumeClaim", "data", {}),
        ("Service", "s", {"selector": {"app": "web"}}),
    ],
)
async def test_every_object_that_an_alert_names_leads_to_the_workload(scene, kind, name, spec):
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    scene.deployment()
    scene.objects[-1]["spec"]["template"]["spec"]["volumes"] = [volume]
    scene.add("Service", "s", {"selector": {"app": "web"}})
    if kind != "Service":
        scene.add(kind, name, spec)
    labels = {"namespace": "shop", kind.lower(): name}
    alert = scene.alert().model_copy(update={"workload": None, "labels": labels})
    case = await scene.case(alert)
    assert (case.named.kind, case.workload) == (kind, WEB)


async def test_objects_around_the_workload_are_in_the_case_and_those_of_others_are_not(scene):
    scene.deployment()
    scene.add("ResourceQuota", "compute", {"hard": {"pods": "1"}})
    scene.add("NetworkPolicy", "deny", {"podSelector": {}})
    scene.add("Deployment", "elsewhere")
    scene.objects[-1]["metadata"]["namespace"] = "other"
    scene.add("Node", "n1")
    case = await scene.case()
    kinds = ("ResourceQuota", "NetworkPolicy", "Node")
    assert [len(case.objects(kind)) for kind in kinds] == [1, 1, 1]
    assert [one.data.ref for one in case.objects("Deployment")] == [WEB]


async def test_of_a_config_map_and_a_secret_only_keys_are_shown(scene):
    scene.deployment()
    scene.add("ConfigMap", "settings")
    scene.objects[-1]["data"] = {"url": "https://hidden.example"}
    scene.add("Secret", "db")
    scene.objects[-1]["data"] = {"password": "aHVzaA=="}
    case = await scene.case()
    shown = {
        o.data.ref.name: o.evidence.excerpt
        for o in case.observations
        if o.data is not None and isinstance(o.data, Manifest)
    }
    assert "url" in shown["settings"]
    assert "password" in shown["db"]
    assert "hidden" not in "".join(shown.values())
    assert "aHVzaA" not in repr(case)


async def test_of_many_objects_the_near_ones_are_kept_and_the_others_counted(scene):
    scene.deployment()
    for number in range(around.MOST_OF_A_KIND + 5):
        scene.add("ConfigMap", f"a-{number:03}")
    scene.add("ConfigMap", "web-settings")
    case = await scene.case()
    found = case.objects("ConfigMap")
    assert found[0].data.ref.name == "web-settings"
    assert len(found) == around.MOST_OF_A_KIND
    assert "6 more were left out" in [seen.evidence.excerpt for seen in case.missing]


async def test_no_object_is_seen_twice(scene):
    scene.deployment()
    scene.pod(ready=True, state={"running": {}})
    case = await scene.case()
    refs = [o.data.ref for o in case.observations if isinstance(o.data, Manifest)]
    assert len(refs) == len(set(refs))


async def test_a_cluster_that_is_not_recorded_is_missing(tmp_path, scene, clock, budget):
    (tmp_path / "eu").mkdir()
    alert = scene.alert(cluster="us").model_copy(update={"workload": None})
    case = await collectors.collect(
        alert, World(RecordedClusters(tmp_path), Files(DEPLOYMENT), clock), budget
    )
    assert "no snapshot of the cluster 'us'" in case.missing[0].evidence.excerpt
    assert case.declarations("Deployment")


def test_files_of_the_namespace_come_before_those_of_others_and_names_before_all():
    found = chosen(written(FILES), "shop", ("web",), 60)
    assert [file for file, _ in found] == [
        "other.yaml",
        "web.yaml",
        "class.yaml",
        "db.yaml",
        "rules.yaml",
        "far.yaml",
    ]
    assert dict(found)["web.yaml"].ref == WEB


def test_where_there_is_no_room_files_of_other_namespaces_are_left_out():
    found = chosen(written(FILES), "shop", ("web",), 5)
    assert "far.yaml" not in [file for file, _ in found]


def test_a_file_that_a_kustomization_puts_elsewhere_is_of_that_place():
    files = {
        "base/web.yaml": b"kind: Deployment\nmetadata: {name: api}\n",
        "base/kustomization.yaml": b"namespace: other\nresources: [web.yaml]\n",
        "db.yaml": b"kind: StatefulSet\nmetadata: {name: db, namespace: shop}\n",
    }
    assert [file for file, _ in chosen(written(files), "shop", (), 1)] == ["db.yaml"]
    assert [file for file, _ in chosen(written(files), "other", (), 1)] == ["base/web.yaml"]
