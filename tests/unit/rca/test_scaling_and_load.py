import pytest

from tocsin_rca.analyzers.autoscaler_maximum import AutoscalerMaximum
from tocsin_rca.analyzers.autoscaler_metrics import AutoscalerMetrics
from tocsin_rca.analyzers.cpu_overload import CpuOverload
from tocsin_rca.analyzers.cpu_throttling import CpuThrottling
from tocsin_rca.analyzers.traffic_spike import TrafficSpike

ALL = (AutoscalerMaximum, AutoscalerMetrics, CpuThrottling, CpuOverload, TrafficSpike)
TARGET = {"type": "Utilization", "averageUtilization": 50}


def autoscaler(scene, *, most=5, current=2, now=None, conditions=()):
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": TARGET}}
    spec = {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": most}
    kinds = ("type", "status", "reason", "message")
    status = {"conditions": [dict(zip(kinds, one, strict=True)) for one in conditions]}
    status |= {"currentReplicas": current, "desiredReplicas": current}
    if now is not None:
        current_metric = {"name": "cpu", "current": {"averageUtilization": now}}
        status["currentMetrics"] = [{"type": "Resource", "resource": current_metric}]
    scene.add("HorizontalPodAutoscaler", "web", spec | {"metrics": [metric]}, status)


def inactive(message):
    return (("ScalingActive", "False", "FailedGetResourceMetric", message),)


LIMITED = (
    ("ScalingActive", "True", "ValidMetricFound", "computed"),
    ("ScalingLimited", "True", "TooManyReplicas",
     "the desired replica count is more than the maximum replica count"),
)  # fmt: skip


async def found(scene, title="SomethingIsWrong", **labels):
    case = await scene.case(scene.alert(**labels).model_copy(update={"title": title}))
    return [finding for make in ALL for finding in make().analyze(case)]


async def only(scene, title="SomethingIsWrong", **labels):
    (finding,) = await found(scene, title, **labels)
    return finding


@pytest.mark.parametrize(
    ("message", "cause", "requested"),
    [
        (
            "the HPA was unable to compute the replica count: failed to get cpu utilization:"
            " missing request for cpu in container app of Pod web-1-a",
            "hpa_missing_request",
            "100m",
        ),
        (
            "failed to get memory utilization: missing request for memory",
            "hpa_missing_request",
            None,
        ),
        (
            "the HPA was unable to compute the replica count: failed to get cpu utilization:"
            " unable to get metrics for resource cpu: unable to fetch metrics from resource metrics"
            " API: the server could not find the requested resource (get pods.metrics.k8s.io)",
            "hpa_metric_unavailable",
            None,
        ),
        (
            "unable to get external metric shop/queue_depth/nil: unable to fetch metrics from"
            " external metrics API: the server is currently unable to handle the request",
            "hpa_metric_unavailable",
            None,
        ),
        (
            "unable to get metric http_requests: unable to fetch metrics from custom metrics API:"
            " no custom metrics API (custom.metrics.k8s.io) registered",
            "hpa_metric_unavailable",
            None,
        ),
    ],
)
async def test_the_autoscaler_says_what_it_lacks(scene, message, cause, requested):
    scene.deployment()
    autoscaler(scene, conditions=inactive(message))
    finding = await only(scene)
    assert finding.cause.value == cause
    assert finding.confidence >= 0.9
    assert (finding.change.new if finding.change else None) == requested


async def test_a_metric_that_came_later_is_no_fault(scene):
    scene.deployment()
    autoscaler(scene, conditions=(("ScalingActive", "True", "ValidMetricFound", "computed"),))
    scene.event("FailedGetResourceMetric", "no metrics returned from resource metrics API",
                pod="web", kind="HorizontalPodAutoscaler")  # fmt: skip
    assert await found(scene) == []


@pytest.mark.parametrize(
    ("most", "now", "new"), [(5, 80, 8), (5, 400, 10), (4, 55, 5), (5, None, 10)]
)
async def test_the_maximum_goes_to_what_the_load_needs_at_most_doubled(scene, most, now, new):
    scene.deployment()
    autoscaler(scene, most=most, current=most, now=now, conditions=LIMITED)
    finding = await only(scene)
    assert finding.cause.value == "hpa_max_too_low"
    assert (finding.change.old, finding.change.new) == (most, new)


async def test_a_maximum_that_a_commit_lowered_goes_back(scene):
    scene.deployment()
    autoscaler(scene, most=3, current=3, conditions=LIMITED)
    scene.commit(("spec", "maxReplicas"), 6, 3, kind="HorizontalPodAutoscaler")
    case = await scene.case(scene.alert(kind="HorizontalPodAutoscaler"))
    (finding,) = AutoscalerMaximum().analyze(case)
    assert "undoes" in finding.because
    assert finding.change.new == 6


async def test_an_autoscaler_below_its_maximum_is_not_to_blame(scene):
    scene.deployment()
    autoscaler(scene, most=5, current=3, now=80)
    assert await found(scene) == []


async def test_an_autoscaler_at_its_maximum_and_at_its_target_is_not_to_blame(scene):
    scene.deployment()
    autoscaler(scene, most=5, current=5, now=49)
    assert await found(scene) == []


async def test_more_replicas_do_not_help_where_pods_wait_for_nodes(scene):
    scene.deployment()
    autoscaler(scene, most=5, current=5, now=90, conditions=LIMITED)
    scene.pod(node="", phase="Pending", started=False)
    scene.event("FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.")
    assert (await only(scene)).confidence < 0.7


@pytest.mark.parametrize(
    ("limit", "new"), [("100m", "200m"), ("10m", "40m"), ("20m", "50m"), ("1", "2"), (0.5, "1")]
)
async def test_a_throttled_container_gets_the_next_usual_limit(scene, limit, new):
    scene.container["resources"] = {"limits": {"cpu": limit}}
    scene.deployment()
    finding = await only(scene, "CPUThrottlingHigh", container="app")
    assert finding.cause.value == "cpu_throttling_limit_too_low"
    assert (finding.change.old, finding.change.new) == (limit, new)


async def test_nothing_is_throttled_where_nothing_limits(scene):
    scene.deployment()
    assert await found(scene, "CPUThrottlingHigh") == []


async def test_high_cpu_without_a_limit_is_overload(scene):
    scene.deployment()
    finding = await only(scene, "HighCPUUsage")
    assert finding.cause.value == "cpu_overload"
    assert finding.change is None


@pytest.mark.parametrize("title", ["HighRequestErrorRate", "KubeCPUOvercommit", "HighErrorRate"])
async def test_other_alerts_are_no_overload_and_no_spike(scene, title):
    scene.deployment()
    assert await found(scene, title) == []


@pytest.mark.parametrize(
    ("requests", "cause"),
    [({}, "hpa_missing_request"), ({"cpu": "100m"}, "hpa_metric_unavailable")],
)
async def test_a_metric_that_is_unknown_means_no_request_or_no_metric(scene, requests, cause):
    scene.container["resources"] = {"requests": requests}
    scene.deployment()
    autoscaler(scene)
    row = "web    Deployment/web   cpu: <unknown>/50%   2   5   2   12d"
    head = "NAME   REFERENCE        TARGETS   MINPODS   MAXPODS   REPLICAS   AGE"
    (scene.folder / "kubectl get hpa -n shop.txt").write_text(f"{head}\n{row}\n")
    finding = await only(scene)
    assert finding.cause.value == cause
    assert finding.confidence < 0.9
