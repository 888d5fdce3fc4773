import pytest

from tocsin_rca.analyzers.devices import Devices
from tocsin_rca.analyzers.node_labels import NodeLabels
from tocsin_rca.analyzers.node_ready import NodeReady
from tocsin_rca.analyzers.pod_capacity import PodCapacity
from tocsin_rca.analyzers.pod_spread import PodSpread
from tocsin_rca.analyzers.request_size import RequestSize
from tocsin_rca.analyzers.taints import Taints

ALL = (NodeLabels, Taints, PodSpread, RequestSize, Devices, PodCapacity, NodeReady)
CONTROL_PLANE = "1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"
MASTER = "1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate"
UNSUITED = "node(s) didn't match Pod's node affinity/selector."
HOPELESS = " preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
SELECTED = {"nodeSelector": {"pool": "fast"}}
AFFINITY = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["c"]}]}
                ]
            }
        }
    }
}


def waiting(scene, message, spec=None, replicas=2, resources=None):
    scene.container["resources"] = resources or {}
    labels = {"metadata": {"labels": scene.labels}}
    template = labels | {"spec": {"containers": [scene.container], **(spec or {})}}
    scene.add("Deployment", "web", {"replicas": replicas, "template": template})
    scene.pod(node="", phase="Pending", started=False)
    scene.event("FailedScheduling", message)


async def found(scene):
    case = await scene.case()
    return [finding for make in ALL for finding in make().analyze(case)]


async def only(scene):
    (finding,) = await found(scene)
    return finding


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("3 node(s) didn't match Pod's node affinity/selector", "node_selector_mismatch"),
        ("3 node(s) didn't match node selector", "node_selector_mismatch"),
        (f"{MASTER}, 2 node(s) didn't match Pod's node affinity", "node_selector_mismatch"),
        ("3 node(s) had untolerated taint {dedicated: gpu}", "taint_not_tolerated"),
        ("3 node(s) had taint {team: a}, that the pod didn't tolerate", "taint_not_tolerated"),
        ("3 node(s) had untolerated taint(s)", "taint_not_tolerated"),
        ("3 node(s) had taints that the pod didn't tolerate", "taint_not_tolerated"),
        (f"{CONTROL_PLANE}", "taint_not_tolerated"),
        ("3 node(s) were unschedulable", "node_cordoned"),
        (
            "3 node(s) had untolerated taint {node.kubernetes.io/unschedulable: }",
            "node_cordoned",
        ),
        (f"{CONTROL_PLANE}, 2 node(s) were unschedulable", "node_cordoned"),
        ("3 node(s) had untolerated taint {node.kubernetes.io/not-ready: }", "node_not_ready"),
        ("2 node(s) had untolerated taint {node.kubernetes.io/unreachable: }", "node_not_ready"),
        (
            f"{CONTROL_PLANE}, 2 node(s) didn't match pod anti-affinity rules",
            "pod_anti_affinity_conflict",
        ),
        (
            "2 node(s) didn't match pod affinity/anti-affinity rules, 2 node(s) didn't satisfy"
            " existing pods anti-affinity rules",
            "pod_anti_affinity_conflict",
        ),
        (
            "3 node(s) didn't match pod topology spread constraints (missing required label)",
            "topology_spread_unsatisfiable",
        ),
        (
            "1 Insufficient cpu, 2 node(s) didn't match pod topology spread constraints",
            "topology_spread_unsatisfiable",
        ),
        (f"{CONTROL_PLANE}, 2 Insufficient cpu", "cpu_request_too_large"),
        ("1 node(s) had untolerated taint(s), 2 Insufficient memory", "memory_request_too_large"),
        ("3 Insufficient nvidia.com/gpu", "insufficient_gpu"),
        ("1 Insufficient amd.com/gpu, 2 Insufficient cpu", "insufficient_gpu"),
        (
            "3 Insufficient cpu, 3 Insufficient memory, 3 Insufficient nvidia.com/mig-1g.5gb",
            "insufficient_gpu",
        ),
        ("3 Insufficient hugepages-2Mi", "insufficient_extended_resource"),
        ("3 Insufficient example.com/fpga", "insufficient_extended_resource"),
        ("3 Too many pods", "node_pod_capacity"),
        (
            "1 Too many pods, 2 node(s) didn't match Pod's node affinity/selector",
            "node_pod_capacity",
        ),
    ],
)
async def test_the_message_of_the_scheduler_decides(scene, said, cause):
    waiting(scene, f"0/3 nodes are available: {said}.{HOPELESS}")
    finding = await only(scene)
    assert finding.cause.value == cause
    assert finding.object.name == "web"
    assert finding.confidence >= 0.85


@pytest.mark.parametrize(
    ("said", "spec", "cause"),
    [
        (
            "1 Insufficient memory, 2 node(s) didn't match Pod's node affinity/selector",
            SELECTED,
            "memory_request_too_large",
        ),
        (
            "1 node(s) had untolerated taint {pool: fast}, 2 node(s) didn't match Pod's node"
            " affinity/selector",
            SELECTED,
            "taint_not_tolerated",
        ),
        (
            "1 node(s) had untolerated taint {team: a}, 2 node(s) didn't match Pod's node"
            " affinity/selector",
            SELECTED,
            "node_selector_mismatch",
        ),
        (
            "1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector",
            SELECTED,
            "node_cordoned",
        ),
        ("3 node(s) didn't match Pod's node affinity/selector", AFFINITY, "node_affinity_mismatch"),
        (
            "1 node(s) were unschedulable, 2 node(s) didn't match pod anti-affinity rules",
            {},
            "node_cordoned",
        ),
    ],
)
async def test_of_several_reasons_the_one_of_the_nodes_that_fit_decides(scene, said, spec, cause):
    waiting(scene, f"0/3 nodes are available: {said}.{HOPELESS}", spec)
    assert (await only(scene)).cause.value == cause


async def test_labels_of_nodes_tell_which_nodes_were_meant(scene):
    said = "1 node(s) had untolerated taint {team: a}, 1 node(s) didn't match Pod's node affinity"
    waiting(scene, f"0/2 nodes are available: {said}.", SELECTED)
    taint = {"key": "team", "value": "a", "effect": "NoSchedule"}
    scene.add("Node", "n1", {"taints": [taint]}, labels={"pool": "fast"})
    scene.add("Node", "n2", labels={"pool": "slow"})
    assert (await only(scene)).cause.value == "taint_not_tolerated"


@pytest.mark.parametrize(
    ("wanted", "carried", "new"),
    [("fastt", ["fast", "slow"], "fast"), ("fastt", ["slow", "tiny"], None)],
)
async def test_of_several_values_the_one_that_was_misspelt_was_meant(scene, wanted, carried, new):
    waiting(scene, f"0/3 nodes are available: 3 {UNSUITED}", {"nodeSelector": {"pool": wanted}})
    for number, value in enumerate(carried):
        scene.add("Node", f"n{number}", labels={"pool": value})
    (finding,) = NodeLabels().analyze(await scene.case())
    assert (finding.change.new if finding.change else None) == new


@pytest.mark.parametrize(
    ("carried", "new"),
    [
        ({"zone": "a", "kind": "highmem"}, "highmem"),
        ({"zone": "b", "kind": "highmem"}, None),
        ({"zone": "a", "kind": "arm"}, None),
    ],
)
async def test_of_an_affinity_the_one_value_is_set_that_fitting_nodes_carry(scene, carried, new):
    asked = {"zone": "a", "kind": "high-memory"}
    terms = [{"key": k, "operator": "In", "values": [v]} for k, v in asked.items()]
    required = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    waiting(scene, f"0/3 nodes are available: 3 {UNSUITED}", {"affinity": affinity})
    scene.add("Node", "n1", labels=carried)
    (finding,) = NodeLabels().analyze(await scene.case())
    assert finding.cause.value == "node_affinity_mismatch"
    assert (finding.change.new if finding.change else None) == new
    if new:
        assert finding.change.path[-4:] == ("matchExpressions", 1, "values", 0)


async def test_more_replicas_than_nodes_is_no_matter_of_a_cordon(scene):
    said = "1 node(s) were unschedulable, 2 node(s) didn't match pod anti-affinity rules"
    waiting(scene, f"0/3 nodes are available: {said}.", replicas=6)
    assert (await only(scene)).cause.value == "pod_anti_affinity_conflict"


@pytest.mark.parametrize(
    "said",
    [
        "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
        "0/3 nodes are available: 3 node(s) had volume node affinity conflict.",
        '0/3 nodes are available: persistentvolumeclaim "data" not found.',
        "running PreBind plugin VolumeBinding: binding volumes: timed out",
    ],
)
async def test_a_claim_without_a_volume_is_no_matter_of_nodes(scene, said):
    waiting(scene, said)
    assert await found(scene) == []


async def test_a_pod_that_has_found_its_node_waits_no_more(scene):
    scene.deployment()
    scene.pod(ready=True, state={"running": {"startedAt": "2026-03-02T09:01:00Z"}})
    scene.event("FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.")
    assert await found(scene) == []


async def test_a_pod_nearby_explains_less_than_its_own(scene):
    scene.deployment()
    scene.pod(ready=True, state={"running": {"startedAt": "2026-03-02T09:01:00Z"}})
    scene.event("FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", pod="batch-7")
    finding = await only(scene)
    assert finding.object.name == "batch-7"
    assert finding.confidence < 0.75


@pytest.mark.parametrize(
    ("resources", "cause"),
    [
        ({"requests": {"cpu": "64", "memory": "1Gi"}}, "cpu_request_too_large"),
        ({"requests": {"cpu": "100m", "memory": "900Gi"}}, "memory_request_too_large"),
    ],
)
async def test_of_two_scarce_resources_the_odd_request_decides(scene, resources, cause):
    said = "0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory."
    waiting(scene, said, resources=resources)
    assert (await only(scene)).cause.value == cause


async def test_a_request_is_lowered_only_if_no_node_could_ever_hold_it(scene):
    said = "0/1 nodes are available: 1 Insufficient memory."
    waiting(scene, said, resources={"requests": {"memory": "12Gi"}})
    assert (await only(scene)).change is None
    scene.add("Node", "n1", status={"allocatable": {"cpu": "4", "memory": "16Gi"}})
    assert (await only(scene)).change is None


async def test_a_request_that_no_node_could_hold_goes_to_what_leaves_room(scene):
    said = "0/1 nodes are available: 1 Insufficient memory."
    waiting(scene, said, resources={"requests": {"memory": "20Gi"}})
    scene.add("Node", "n1", status={"allocatable": {"cpu": "4", "memory": "16Gi"}})
    change = (await only(scene)).change
    assert (change.path[-2:], change.old, change.new) == (("requests", "memory"), "20Gi", "12Gi")


async def test_a_request_beyond_measure_is_left_to_a_person(scene):
    said = "0/1 nodes are available: 1 Insufficient cpu."
    waiting(scene, said, resources={"requests": {"cpu": "500"}})
    scene.add("Node", "n1", status={"allocatable": {"cpu": "4", "memory": "16Gi"}})
    finding = await only(scene)
    assert finding.change is None
    assert finding.confidence >= 0.95


async def test_a_commit_that_raised_a_request_is_undone(scene):
    path = ("spec", "template", "spec", "containers", "[name=app]", "resources", "requests", "cpu")
    waiting(
        scene, "0/3 nodes are available: 3 Insufficient cpu.", resources={"requests": {"cpu": "8"}}
    )
    scene.commit(path, "500m", "8")
    assert (await only(scene)).change.new == "500m"


SPREAD = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {"matchLabels": {"app": "web"}},
                    "topologyKey": "kubernetes.io/hostname",
                }
            ]
        }
    }
}
APART = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."


async def test_replicas_go_down_to_what_has_a_place(scene):
    waiting(scene, APART, SPREAD, replicas=5)
    change = (await only(scene)).change
    assert (change.path, change.old, change.new) == (("spec", "replicas"), 5, 3)


async def test_replicas_stay_where_a_rollout_only_lacks_a_place_for_its_surge(scene):
    waiting(scene, APART, SPREAD, replicas=3)
    assert (await only(scene)).change is None


async def test_replicas_stay_where_an_autoscaler_decides(scene):
    waiting(scene, APART, SPREAD, replicas=5)
    scene.add("HorizontalPodAutoscaler", "web", {"scaleTargetRef": {"name": "web"}})
    assert (await only(scene)).change is None


async def test_replicas_stay_where_the_distance_is_from_other_pods(scene):
    terms = SPREAD["affinity"]["podAntiAffinity"]
    other = {"labelSelector": {"matchLabels": {"app": "db"}}}
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    spec = {"affinity": {"podAntiAffinity": {key: [terms[key][0] | other]}}}
    waiting(scene, APART, spec, replicas=5)
    assert (await only(scene)).change is None


async def test_a_kubelet_that_refuses_a_pod_is_heard_as_well(scene):
    scene.deployment()
    scene.event(
        "OutOfcpu",
        "Node didn't have enough resource: cpu, requested: 4000, used: 1200, capacity: 3920",
    )
    assert (await only(scene)).cause.value == "cpu_request_too_large"


async def test_devices_that_the_kubelet_cannot_allocate_are_heard(scene):
    scene.deployment()
    scene.event(
        "UnexpectedAdmissionError",
        "Allocate failed due to requested number of devices"
        " unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is"
        " unexpected",
    )
    assert (await only(scene)).cause.value == "insufficient_gpu"


async def test_the_autoscaler_of_nodes_is_heard_as_well(scene):
    waiting(
        scene,
        "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1"
        " node(s) didn't match Pod's node affinity/selector, 2 Insufficient memory",
    )
    assert (await only(scene)).cause.value == "memory_request_too_large"


def silent(scene, spec=None):
    labels = {"metadata": {"labels": scene.labels}}
    template = labels | {"spec": {"containers": [scene.container], **(spec or {})}}
    scene.add("Deployment", "web", {"replicas": 1, "template": template})
    scene.add("Pod", "web-1-a", status={"phase": "Pending"}, labels=scene.labels)
    owner = {"kind": "ReplicaSet", "name": "web-1", "controller": True}
    scene.objects[-1]["metadata"]["ownerReferences"] = [owner]


TAINT = [{"key": "gpu", "value": "true", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("spec", "nodes", "cause"),
    [
        (SELECTED, [{"labels": {"pool": "slow"}}], "node_selector_mismatch"),
        (AFFINITY, [{"labels": {"zone": "a"}}], "node_affinity_mismatch"),
        ({}, [{"taints": TAINT}, {"taints": TAINT}], "taint_not_tolerated"),
        ({}, [{"unschedulable": True}], "node_cordoned"),
    ],
)
async def test_nodes_tell_where_no_scheduler_was_heard(scene, spec, nodes, cause):
    silent(scene, spec)
    for n, node in enumerate(nodes):
        labels = node.pop("labels", {})
        scene.add("Node", f"n{n}", node, labels=labels)
    finding = await only(scene)
    assert finding.cause.value == cause
    assert finding.confidence < 0.9


@pytest.mark.parametrize(
    ("spec", "node"),
    [
        ({}, {}),
        (SELECTED, {}),
        ({"tolerations": [{"operator": "Exists"}]}, {"taints": TAINT}),
        ({"tolerations": [{"key": "gpu", "operator": "Exists"}]}, {"taints": TAINT}),
    ],
)
async def test_a_node_that_may_take_the_pod_leaves_the_question_open(scene, spec, node):
    silent(scene, spec)
    scene.add("Node", "n1", node)
    assert await found(scene) == []


@pytest.mark.parametrize(
    ("why", "cause"),
    [
        (
            'no instance type satisfied resources {"cpu":"200180m","memory":"1Gi","pods":"6"} and'
            " requirements karpenter.sh/capacity-type In [on-demand]",
            "cpu_request_too_large",
        ),
        ("did not tolerate dedicated=batch:NoSchedule", "taint_not_tolerated"),
        (
            'incompatible requirements, label "tier" does not have known values',
            "node_selector_mismatch",
        ),
        (
            "unsatisfiable topology constraint for pod anti-affinity, key=kubernetes.io/hostname",
            "pod_anti_affinity_conflict",
        ),
        (
            "unsatisfiable topology constraint for topology spread, key=zone",
            "topology_spread_unsatisfiable",
        ),
    ],
)
async def test_a_provisioner_of_nodes_is_heard_as_well(scene, why, cause):
    said = (
        'Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":'
    )
    waiting(scene, f'{said}"180m","pods":"5"}}, {why}', resources={"requests": {"cpu": "200"}})
    assert (await only(scene)).cause.value == cause


async def test_a_cluster_without_nodes_is_no_matter_of_the_pod(scene):
    waiting(scene, "no nodes available to schedule pods")
    assert (await only(scene)).cause.value == "node_not_ready"
