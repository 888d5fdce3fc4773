import pytest

from tocsin_rca.analyzers.control_plane import ControlPlane
from tocsin_rca.analyzers.disruption_budget import DisruptionBudget
from tocsin_rca.analyzers.node_ready import NodeReady
from tocsin_rca.analyzers.node_services import NodeServices
from tocsin_rca.analyzers.pod_capacity import PodCapacity
from tocsin_rca.analyzers.preemption import Preemption

ALL = (NodeServices, NodeReady, ControlPlane, DisruptionBudget, Preemption, PodCapacity)
RUNNING = "     Active: active (running) since Mon 2026-03-02 06:00:00 UTC; 3h ago\n"
DEAD = "     Active: inactive (dead) since Mon 2026-03-02 09:00:00 UTC; 20min ago\n"
FAILED = "   Active: failed (Result: exit-code) since Mon 2026-03-02 09:00:00 UTC; 2min ago\n"
AGAIN = "     Active: activating (auto-restart) (Result: exit-code) since Mon 2026-03-02 09:00:00\n"


async def found(scene, title="SomethingIsWrong"):
    case = await scene.case(scene.alert().model_copy(update={"title": title}))
    return [finding for make in ALL for finding in make().analyze(case)]


async def only(scene, title="SomethingIsWrong"):
    (finding,) = await found(scene, title)
    return finding


def printed(scene, command, text):
    (scene.folder / f"{command}.txt").write_text(text)


@pytest.mark.parametrize(
    ("command", "text", "cause"),
    [
        ("systemctl status kubelet", f"● kubelet.service - kubelet\n{DEAD}", "kubelet_down"),
        ("systemctl status kubelet", f"* kubelet.service - kubelet\n{FAILED}", "kubelet_down"),
        ("systemctl status kubelet", f"● kubelet.service - kubelet\n{AGAIN}", "kubelet_down"),
        ("systemctl is-active kubelet", "inactive\n", "kubelet_down"),
        (
            "systemctl status containerd",
            f"○ containerd.service - containerd container runtime\n{DEAD}",
            "container_runtime_down",
        ),
        (
            "systemctl status kubelet containerd",
            f"● kubelet.service - kubelet\n{RUNNING}\n● containerd.service - containerd\n{FAILED}",
            "container_runtime_down",
        ),
        ("systemctl is-active kubelet docker", "active\nfailed\n", "container_runtime_down"),
        ("systemctl status kube-proxy", f"● kube-proxy.service - proxy\n{DEAD}", "kube_proxy_down"),
        (
            "systemctl status kube-scheduler",
            f"● kube-scheduler.service - Kubernetes Scheduler\n{FAILED}",
            "scheduler_down",
        ),
        ("systemctl status etcd", f"● etcd.service - etcd\n{DEAD}", "control_plane_down"),
        (
            "systemctl status kube-controller-manager",
            f"● kube-controller-manager.service - Controllers\n{DEAD}",
            "control_plane_down",
        ),
        (
            "journalctl -u kubelet",
            "Mar 02 09:18:02 n1 systemd[1]: kubelet.service: Failed with result 'exit-code'.\n",
            "kubelet_down",
        ),
        (
            "kubectl get pods -n kube-system",
            "NAME               READY   STATUS             RESTARTS   AGE\n"
            "kube-proxy-7x2vq   0/1     CrashLoopBackOff   9          20m\n",
            "kube_proxy_down",
        ),
        (
            "kubectl get nodes",
            "The connection to the server 10.0.0.1:6443 was refused - did you specify the right"
            " host or port?\n",
            "control_plane_down",
        ),
    ],
)
async def test_a_service_that_does_not_run_is_named(scene, command, text, cause):
    scene.deployment()
    printed(scene, command, text)
    assert (await only(scene)).cause.value == cause


async def test_services_that_run_are_no_fault(scene):
    scene.deployment()
    for unit in ("kubelet", "containerd", "kube-proxy", "etcd"):
        printed(scene, f"systemctl status {unit}", f"● {unit}.service - {unit}\n{RUNNING}")
    assert await found(scene) == []


def unready(scene, message, status="False"):
    scene.deployment()
    scene.pod(ready=False, state={"running": {}})
    ready = {"type": "Ready", "status": status, "reason": "KubeletNotReady", "message": message}
    scene.add("Node", "n1", status={"conditions": [ready]})


@pytest.mark.parametrize(
    ("message", "status", "cause"),
    [
        ("Kubelet stopped posting node status.", "Unknown", "node_not_ready"),
        (
            "container runtime network not ready: NetworkReady=false"
            " reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not"
            " initialized",
            "False",
            "node_not_ready",
        ),
        (
            "[container runtime is down, PLEG is not healthy: pleg was last seen active 5m ago;"
            " threshold is 3m0s]",
            "False",
            "container_runtime_down",
        ),
    ],
)
async def test_a_node_says_why_it_is_not_ready(scene, message, status, cause):
    unready(scene, message, status)
    case = await scene.case()
    findings = [f for make in (NodeServices, NodeReady) for f in make().analyze(case)]
    assert findings[0].cause.value == cause
    assert findings[0].object.name == "n1"


async def test_a_ready_node_is_no_fault(scene):
    unready(scene, "kubelet is posting ready status", "True")
    assert await found(scene, "KubeNodeNotReady") == []


@pytest.mark.parametrize(
    ("title", "cause"),
    [
        ("KubeletDown", "kubelet_down"),
        ("KubeProxyDown", "kube_proxy_down"),
        ("KubeSchedulerDown", "scheduler_down"),
        ("KubeAPIDown", "control_plane_down"),
        ("KubeControllerManagerDown", "control_plane_down"),
        ("etcdNoLeader", "control_plane_down"),
        ("KubeNodeNotReady", "node_not_ready"),
        ("KubeNodeUnreachable", "node_not_ready"),
        ("KubeletTooManyPods", "node_pod_capacity"),
    ],
)
async def test_an_alert_may_be_all_there_is(scene, title, cause):
    scene.deployment()
    finding = await only(scene, title)
    assert finding.cause.value == cause


def budget(scene, replicas=2, *, spec=None, healthy=2, allowed=0):
    labels = {"metadata": {"labels": scene.labels}}
    template = labels | {"spec": {"containers": [scene.container]}}
    scene.add("Deployment", "web", {"replicas": replicas, "template": template})
    chosen = {"selector": {"matchLabels": {"app": "web"}}}
    status = {"currentHealthy": healthy, "expectedPods": replicas, "disruptionsAllowed": allowed}
    scene.add("PodDisruptionBudget", "web", chosen | (spec or {"minAvailable": 2}), status)
    printed(
        scene,
        "kubectl drain n1",
        "error when evicting pods/web-1-a: Cannot evict pod as it"
        " would violate the pod's disruption budget.\n",
    )


@pytest.mark.parametrize(
    ("replicas", "spec", "new"),
    [
        (2, {"minAvailable": 2}, 1),
        (3, {"maxUnavailable": 0}, 1),
        (1, {"minAvailable": 1}, None),
        (3, {"minAvailable": "100%"}, None),
    ],
)
async def test_a_budget_is_relaxed_by_one_pod_if_that_leaves_one(scene, replicas, spec, new):
    budget(scene, replicas, spec=spec, healthy=replicas)
    finding = await only(scene)
    assert finding.cause.value == "pdb_blocks"
    assert (finding.change.new if finding.change else None) == new


async def test_a_budget_that_guards_unhealthy_pods_is_not_relaxed(scene):
    budget(scene, healthy=1)
    assert (await only(scene)).change is None


async def test_a_budget_with_room_is_no_fault(scene):
    budget(scene, spec={"minAvailable": 1}, allowed=1)
    (scene.folder / "kubectl drain n1.txt").unlink()
    assert await found(scene, "NodeDrainSlow") == []


@pytest.mark.parametrize(
    "message",
    [
        "Preempted by shop/urgent-5c on node n1",
        "Preempted by pod 0d1c9f4e-6a0e-4f65-9d92-0f3a1f3f6f15 on node n1",
        "Preempted by a pod on node n1",
        "Preempted in order to admit critical pod",
        "default-scheduler: preempting to accommodate a higher priority pod",
    ],
)
async def test_a_pod_that_made_way_is_named(scene, message):
    scene.deployment()
    scene.event("Preempted", message)
    assert (await only(scene)).cause.value == "preempted"


async def test_nobody_to_preempt_is_no_preemption(scene):
    scene.deployment()
    scene.event(
        "FailedScheduling",
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1"
        " nodes are available: 1 No preemption victims found for incoming pod.",
    )
    assert await found(scene) == []


async def test_a_budget_that_can_never_be_met_is_not_excused_by_missing_pods(scene):
    budget(scene, replicas=2, spec={"minAvailable": 5}, healthy=1)
    change = (await only(scene)).change
    assert (change.path[-1], change.old, change.new) == ("minAvailable", 5, 1)


PODS = """NAME                 READY   STATUS    RESTARTS   AGE
kube-apiserver-cp    1/1     Running   0          9d
etcd-cp              1/1     Running   0          9d
"""


async def test_a_control_plane_without_a_scheduler_pod_has_none(scene):
    scene.deployment()
    printed(scene, "kubectl get pods -n kube-system", PODS)
    assert (await only(scene)).cause.value == "scheduler_down"


async def test_a_list_without_any_control_plane_says_nothing(scene):
    scene.deployment()
    printed(scene, "kubectl get pods -n kube-system", PODS.partition("kube-apiserver")[0] + "a 1/1")
    assert await found(scene) == []


async def test_a_check_may_say_it_in_words(scene):
    scene.deployment()
    printed(scene, "node-check n1", "kube-proxy is not running on n1\n")
    assert (await only(scene)).cause.value == "kube_proxy_down"


async def test_a_pod_that_nobody_speaks_of_is_a_weak_sign_of_no_scheduler(scene):
    scene.deployment()
    scene.pod(node="", phase="Pending")
    scene.objects[-1]["status"] = {"phase": "Pending"}
    text = "Name:         web-1-a\nNamespace:    shop\nStatus:       Pending\n"
    printed(scene, "kubectl describe pod web-1-a -n shop", f"{text}Events:       <none>\n")
    finding = await only(scene)
    assert finding.cause.value == "scheduler_down"
    assert finding.confidence < 0.7
