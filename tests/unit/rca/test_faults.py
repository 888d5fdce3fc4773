"""Faults as benches inject them: what is diverted, shut off, flooded or started in another way."""

from datetime import UTC, datetime

import pytest

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass
from tocsin_rca.analyzers.bad_release import BadRelease
from tocsin_rca.analyzers.cluster_dns import ClusterDns
from tocsin_rca.analyzers.cpu_throttling import CpuThrottling
from tocsin_rca.analyzers.ingress_route import IngressRoute
from tocsin_rca.analyzers.metric_anomaly import MetricAnomaly
from tocsin_rca.analyzers.network_degraded import NetworkDegraded
from tocsin_rca.analyzers.network_policy import NetworkPolicy
from tocsin_rca.analyzers.node_labels import NodeLabels
from tocsin_rca.analyzers.port_conflict import PortConflict
from tocsin_rca.analyzers.probe_request import ProbeRequest
from tocsin_rca.analyzers.probe_timing import ProbeTiming
from tocsin_rca.analyzers.recent_change import RecentChange
from tocsin_rca.analyzers.service_address import ServiceAddress
from tocsin_rca.analyzers.traffic_spike import TrafficSpike
from tocsin_rca.ports import Declared

READY = {"ready": True, "restartCount": 0, "state": {"running": {}}}
IMAGE = ["spec", "template", "spec", "containers", "[name=app]", "image"]
COMMAND = ["spec", "template", "spec", "containers", "[name=app]", "command", 0]


def web(scene, line="", **container):
    scene.container |= container
    scene.deployment()
    scene.pod(**READY)
    if line:
        scene.log(line, previous=False)


def check(scene, name, text):
    (scene.folder / f"{name}.txt").write_text(text)


def errors(scene, title="HighErrorRate"):
    began = datetime(2026, 3, 2, 8, 20, tzinfo=UTC)
    return scene.alert().model_copy(update={"title": title, "starts_at": began})


# Ports of nodes


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (
            "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod"
            " ports.",
            1,
        ),
        (
            "0/9 nodes are available: 1 node(s) had untolerated taint"
            " {node-role.kubernetes.io/control-plane: }, 8 node(s) didn't have free ports for the"
            " requested pod ports.",
            1,
        ),
        (
            "0/9 nodes are available: 1 node(s) didn't have free ports for the requested pod ports,"
            " 8 Insufficient memory.",
            0,
        ),
    ],
)
async def test_a_node_port_that_is_given_away_is_a_conflict_where_it_decides(scene, message, found):
    scene.container |= {"ports": [{"containerPort": 8080, "hostPort": 9200}]}
    scene.deployment()
    check(scene, "kubectl get events -n shop", message)
    findings = PortConflict().analyze(await scene.case())
    assert [one.cause for one in findings] == [CauseClass.PORT_CONFLICT] * found
    assert all("9200" in one.summary and one.change is None for one in findings)


# What numbers say


@pytest.mark.parametrize(
    ("line", "flood"),
    [
        ("gate  http_requests_total  baseline 20/s  now 900/s", True),
        ("request_rate 10 -> 240", True),
        ("gate: rps rose from 15 to 300", True),
        ("gate  request_rate  baseline 20/s  now 22/s", False),
        ("gate  request_error_rate  baseline 0.1  now 9", False),
        ("gate  request_p99_ms  baseline 90  now 4000", False),
        ("gate  request_rate  baseline 900/s  now 20/s", False),
    ],
)
async def test_many_more_requests_than_usual_are_a_flood(scene, line, flood):
    web(scene)
    check(scene, "metrics", line)
    found = TrafficSpike().analyze(await scene.case())
    assert [one.cause for one in found] == [CauseClass.TRAFFIC_SPIKE_RATE_LIMITED] * flood


async def test_a_program_that_burns_cpu_as_never_before_is_overloaded(scene):
    web(scene)
    check(
        scene, "metrics", "web  cpu_usage rate  baseline 0.05  now 3.7\nweb  rps  baseline 3  now 3"
    )
    (finding,) = MetricAnomaly().analyze(await scene.case())
    assert (finding.cause, finding.object.name) == (CauseClass.CPU_OVERLOAD, "web")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cfs throttled ratio 0.87", 1),
        ("container_cpu_cfs_throttled_periods_total 4211", 1),
        ("container_cpu_cfs_throttled_periods_total  0", 0),
        ("cfs throttled ratio 0.00", 0),
    ],
)
async def test_periods_that_were_cut_short_are_throttling_and_none_is_not(scene, line, found):
    web(scene, resources={"limits": {"cpu": "100m"}})
    check(scene, "metrics", line)
    assert len(CpuThrottling().analyze(await scene.case())) == found


@pytest.mark.parametrize(("ms", "found"), [("2003", 1), ("640.2", 1), ("120", 0), ("3", 0)])
async def test_a_connection_that_is_made_late_is_the_networks_fault(scene, ms, found):
    web(scene)
    check(scene, "probe", f"tcp connect 10.1.2.3:80: {ms} ms")
    assert len(NetworkDegraded().analyze(await scene.case())) == found


# Who may ask whom

NAMES = {"ports": [{"protocol": "UDP", "port": 53}]}


def policy(scene, name, **spec):
    scene.add("NetworkPolicy", name, spec)


async def test_who_is_shut_off_is_known_by_name_where_no_labels_were_seen(scene):
    web(
        scene, "ERROR rpc error: code = DeadlineExceeded desc = context deadline exceeded: ads:8085"
    )
    selector = {"matchLabels": {"app": "ads"}}
    policy(scene, "quiet", podSelector=selector, policyTypes=["Ingress"], ingress=[])
    (finding,) = NetworkPolicy().analyze(await scene.case())
    assert (finding.cause, finding.object.name) == (CauseClass.NETWORK_POLICY_BLOCKS, "quiet")


async def test_a_policy_about_others_shuts_nobody_off(scene):
    web(
        scene, "ERROR rpc error: code = DeadlineExceeded desc = context deadline exceeded: ads:8085"
    )
    for labels in ({"app": "ad"}, {"app": "ads", "track": "beta"}):
        selector = {"matchLabels": labels}
        policy(scene, f"p{len(labels)}", podSelector=selector, policyTypes=["Ingress"], ingress=[])
    assert NetworkPolicy().analyze(await scene.case()) == ()


@pytest.mark.parametrize(
    ("egress", "blocks"),
    [
        ([{"ports": [{"protocol": "TCP", "port": 443}]}], True),
        ([{"ports": [{"protocol": "TCP", "port": 5432}]}], False),
        ([{"to": [{"podSelector": {"matchLabels": {"app": "db"}}}]}], False),
    ],
)
async def test_an_address_that_may_be_a_pods_is_let_through_by_rules_about_pods(
    scene, egress, blocks
):
    web(scene, "ERROR dial tcp 10.8.1.4:5432: i/o timeout")
    selector = {"matchLabels": {"app": "web"}}
    policy(scene, "out", podSelector=selector, policyTypes=["Egress"], egress=[*egress, NAMES])
    found = NetworkPolicy().analyze(await scene.case())
    assert [one.confidence >= 0.9 for one in found] == [True] * blocks


# Addresses


async def test_a_setting_that_is_called_after_a_service_means_that(scene):
    web(
        scene,
        "ERROR lookup nowhere on 10.96.0.10:53: no such host",
        env=[{"name": "CART_ADDR", "value": "nowhere:7070"}],
    )
    ports = [{"port": 7070, "targetPort": 7070}]
    scene.add("Service", "cart", {"selector": {"app": "cart"}, "ports": ports})
    (finding,) = ServiceAddress().analyze(await scene.case())
    assert (finding.change.new, finding.confidence) == ("cart:7070", 0.93)


async def test_a_setting_that_is_called_after_a_service_with_another_port_is_not_guessed(scene):
    web(
        scene,
        "ERROR lookup nowhere on 10.96.0.10:53: no such host",
        env=[{"name": "CART_ADDR", "value": "nowhere:7070"}],
    )
    ports = [{"port": 80, "targetPort": 7070}]
    scene.add("Service", "cart", {"selector": {"app": "cart"}, "ports": ports})
    assert ServiceAddress().analyze(await scene.case()) == ()


@pytest.mark.parametrize(
    ("line", "places", "new"),
    [
        ("lookup users on 10.96.0.10:53: no such host", ["core"], "http://users.core:80/v1"),
        ("lookup users on 10.96.0.10:53: no such host", ["core", "test"], None),
        ("Get http://users:80/v1: connection refused", ["core"], None),
    ],
)
async def test_a_short_name_that_only_another_namespace_knows_is_made_longer(
    scene, line, places, new
):
    web(scene, f"ERROR {line}", env=[{"name": "USERS_URL", "value": "http://users:80/v1"}])
    for place in places:
        scene.add("Service", "users", {"ports": [{"port": 80}]}, namespace=place)
    found = ServiceAddress().analyze(await scene.case())
    assert [one.change.new for one in found] == ([new] if new else [])


# Ingresses that were led away


def entry(scene, name):
    paths = [{"path": "/", "backend": {"service": {"name": name, "port": {"number": 81}}}}]
    raw = {"kind": "Ingress", "metadata": {"name": "entry", "namespace": "shop"}}
    scene.declared.append(
        Declared(
            "shop/ops",
            "a" * 40,
            "i.yaml",
            Manifest(raw | {"spec": {"rules": [{"http": {"paths": paths}}]}}),
        )
    )


def services(scene):
    for name, port in (("web", 80), ("ads", 81)):
        scene.add("Service", name, {"selector": {"app": name}, "ports": [{"port": port}]})


BACKEND = ["spec", "rules", 0, "http", "paths", 0, "backend", "service"]


async def test_an_ingress_that_a_commit_led_away_from_the_service_is_led_back_with_its_port(scene):
    services(scene)
    entry(scene, "ads")
    scene.commit([*BACKEND, "name"], "web", "ads", kind="Ingress", name="entry")
    scene.commit([*BACKEND, "port", "number"], 80, 81, kind="Ingress", name="entry")
    (finding,) = IngressRoute().analyze(await scene.case(scene.alert("web", "Service")))
    assert (finding.cause, finding.change.new) == (CauseClass.INGRESS_MISROUTE, "web")
    assert [one.new for one in finding.further] == [80]


@pytest.mark.parametrize("before", ["other", None])
async def test_an_ingress_that_was_never_led_away_from_the_service_is_right(scene, before):
    services(scene)
    entry(scene, "ads")
    if before:
        scene.commit([*BACKEND, "name"], before, "ads", kind="Ingress", name="entry")
    assert IngressRoute().analyze(await scene.case(scene.alert("web", "Service"))) == ()


# Commits


@pytest.mark.parametrize(
    ("curve", "found"),
    [
        ("p99_ms 07:50 81  07:58 80  08:02 3120  08:20 3188", True),
        ("error_ratio 07:58 0.001 08:01 0.4 08:10 0.5", True),
        ("p99_ms 07:00 81  07:05 3120  08:02 3120  08:20 3188", False),
        ("p99_ms 07:50 81  07:58 80  08:02 3120  08:20 90", False),
        ("p99_ms 07:50 81  07:58 80  08:02 85  08:20 88", False),
        ("requests 07:50 81  07:58 80  08:02 3120  08:20 3188", False),
    ],
)
async def test_a_curve_that_jumps_with_a_release_needs_no_log(scene, curve, found):
    web(scene)
    check(scene, "metrics", curve)
    scene.commit(IMAGE, "reg.example/shop/web:1", "reg.example/shop/web:2")
    findings = BadRelease().analyze(await scene.case(errors(scene, "HighRequestLatency")))
    assert [one.confidence >= 0.9 for one in findings] == [True] * found


async def test_another_image_altogether_is_a_release_if_it_ran(scene):
    web(scene, "panic: cannot find the index")
    scene.commit(IMAGE, "reg.example/shop/all:1", "reg.example/shop/web:2")
    (finding,) = BadRelease().analyze(await scene.case(errors(scene)))
    assert finding.change.new == "reg.example/shop/all:1"


@pytest.mark.parametrize(
    ("line", "found"),
    [("ERROR dial tcp 10.0.0.1:80: connect: connection refused", 1), ("INFO all is well", 0)],
)
async def test_a_program_that_is_started_in_another_way_and_fails_is_started_wrongly(
    scene, line, found
):
    web(scene, line, command=["pay"])
    scene.commit(COMMAND, "web", "pay")
    findings = RecentChange().analyze(await scene.case(errors(scene)))
    assert [(one.cause, one.change.new) for one in findings] == [
        (CauseClass.CONTAINER_ARGS_INVALID, "web")
    ] * found


# Name servers


async def test_name_servers_that_forward_to_the_dead_say_so_themselves(scene):
    web(scene, "lookup pay.example.com on 10.96.0.10:53: server misbehaving")
    text = (
        "[ERROR] plugin/errors: 2 pay.example.com. A: read udp 10.2.0.9:4->10.9.9.1:53: i/o timeout"
    )
    check(scene, "dns", f"$ kubectl logs -n kube-system -l k8s-app=kube-dns\n{text}")
    (finding,) = ClusterDns().analyze(await scene.case())
    assert (finding.cause, finding.confidence) == (CauseClass.DNS_MISCONFIGURED, 0.9)


async def test_a_name_that_does_not_exist_is_no_fault_of_name_servers(scene):
    web(scene, "lookup pay.example.com on 10.96.0.10:53: no such host")
    text = "[INFO] 10.2.0.9:4 - 1 'A IN pay.example.com. udp 35' NXDOMAIN qr,rd,ra 110 0.03s"
    check(scene, "dns", f"$ kubectl logs -n kube-system -l k8s-app=kube-dns\n{text}")
    assert ClusterDns().analyze(await scene.case()) == ()


# Right values that are certain


def probing(field, scheme=None, **times):
    asks = {"path": "/healthz", "port": 8443} | ({"scheme": scheme} if scheme else {})
    return {field: {"httpGet": asks, **times}, "ports": [{"containerPort": 8443}]}


@pytest.mark.parametrize(
    ("scheme", "said", "line", "new"),
    [
        ("HTTPS", 'Get "https://x": http: server gave HTTP response to HTTPS client', "", "HTTP"),
        (
            "HTTP",
            "HTTP probe failed with statuscode: 400",
            "sent an HTTP request to an HTTPS server",
            "HTTPS",
        ),
        ("HTTP", "HTTP probe failed with statuscode: 400", "bad header", None),
        (
            "HTTP",
            "HTTP probe failed with statuscode: 401",
            "sent an HTTP request to an HTTPS server",
            None,
        ),
    ],
)
async def test_a_probe_speaks_what_the_program_says_it_speaks(scene, scheme, said, line, new):
    web(scene, line, **probing("readinessProbe", scheme))
    scene.event("Unhealthy", f"Readiness probe failed: {said}")
    (finding,) = ProbeRequest().analyze(await scene.case())
    assert (finding.change.new if finding.change else None) == new


async def test_a_program_that_answers_late_under_load_gets_time_for_each_answer(scene):
    web(scene, **probing("livenessProbe", timeoutSeconds=1, periodSeconds=5, failureThreshold=1))
    scene.event("Unhealthy", "Liveness probe failed: context deadline exceeded (Client.Timeout)")
    (finding,) = ProbeTiming().analyze(await scene.case())
    found = {one.path[-1]: one.new for one in (finding.change, *finding.further)}
    assert found == {"failureThreshold": 6, "timeoutSeconds": 5}


@pytest.mark.parametrize(
    ("volumes", "nodes", "gone"),
    [([], 2, True), ([{"name": "d", "hostPath": {"path": "/d"}}], 2, False), ([], 3, False)],
)
async def test_a_host_that_is_no_node_is_not_asked_for_if_nothing_is_kept_there(
    scene, volumes, nodes, gone
):
    spec = {
        "containers": [scene.container],
        "volumes": volumes,
        "nodeSelector": {"kubernetes.io/hostname": "box-of-old"},
    }
    scene.add(
        "Deployment", "web", {"template": {"metadata": {"labels": scene.labels}, "spec": spec}}
    )
    for name in ("n1", "n2"):
        scene.add("Node", name, labels={"kubernetes.io/hostname": name})
    message = (
        f"0/{nodes} nodes are available: {nodes} node(s) didn't match Pod's node affinity/selector."
    )
    scene.pod(phase="Pending", node=None)
    scene.event("FailedScheduling", message)
    (finding,) = NodeLabels().analyze(await scene.case())
    assert (finding.change is not None) == gone


async def test_an_ingress_may_lack_the_prefix_of_a_service(scene):
    scene.add("Service", "web", {"selector": {"app": "web"}, "ports": [{"port": 81}]})
    entry(scene, "service-web")
    (finding,) = IngressRoute().analyze(await scene.case(scene.alert("web", "Service")))
    assert finding.change.new == "web"
