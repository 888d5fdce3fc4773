import pytest

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, ChangeOp
from tocsin_rca.analyzers.gateway_route import GatewayRoute
from tocsin_rca.analyzers.ingress_route import IngressRoute
from tocsin_rca.analyzers.isolation import Isolation
from tocsin_rca.analyzers.network_degraded import NetworkDegraded
from tocsin_rca.analyzers.network_policy import NetworkPolicy
from tocsin_rca.analyzers.pod_dns import PodDns
from tocsin_rca.analyzers.service_address import ServiceAddress
from tocsin_rca.analyzers.service_port import ServicePort
from tocsin_rca.ports import Declared

READY = {"ready": True, "restartCount": 1, "state": {"running": {}}}
TIMEOUT = "ERROR Get http://cart/v1: dial tcp 10.96.0.9:80: i/o timeout; cart:80"
NO_NAME = "dial tcp: lookup cart on 10.96.0.10:53: no such host"


def web(scene, line="", **container):
    scene.container |= container
    scene.deployment()
    scene.pod(**READY)
    if line:
        scene.log(line, previous=False)


def workload(scene, name, port=9080, **labels):
    container = {"name": name, "image": f"reg.example/{name}:1", "ports": [{"containerPort": port}]}
    template = {
        "metadata": {"labels": {"app": name, **labels}},
        "spec": {"containers": [container]},
    }
    scene.add("Deployment", name, {"template": template})


def service(scene, name, port=80, **spec):
    ports = [{"port": port, "targetPort": 9080, **spec}]
    scene.add("Service", name, {"selector": {"app": name}, "ports": ports})


def told(scene, name, value):
    scene.container |= {"env": [{"name": name, "value": value}]}


# Ports of Services


@pytest.mark.parametrize(
    ("spec", "cause", "new"),
    [
        ({"targetPort": 8081}, CauseClass.SERVICE_TARGET_PORT_MISMATCH, 9080),
        ({"targetPort": "http"}, CauseClass.SERVICE_TARGET_PORT_MISMATCH, 9080),
        ({"protocol": "UDP"}, CauseClass.SERVICE_PROTOCOL_MISMATCH, "TCP"),
    ],
)
async def test_a_service_port_leads_to_what_the_container_declares(scene, spec, cause, new):
    workload(scene, "cart")
    service(scene, "cart", **spec)
    (finding,) = ServicePort().analyze(await scene.case(scene.alert("cart", "Service")))
    assert (finding.cause, finding.change.new) == (cause, new)
    assert finding.confidence >= 0.9


async def test_a_right_port_by_number_or_default_is_no_finding(scene):
    workload(scene, "cart")
    service(scene, "cart")
    workload(scene, "ads", port=80)
    scene.add("Service", "ads", {"selector": {"app": "ads"}, "ports": [{"port": 80}]})
    assert ServicePort().analyze(await scene.case(scene.alert("cart", "Service"))) == ()


async def test_a_program_that_says_it_listens_there_needs_no_declaration(scene):
    web(scene, "INFO listening on :8081", ports=[{"containerPort": 9080}])
    service(scene, "web", targetPort=8081)
    scene.log("INFO listening on :8081", previous=True)
    assert ServicePort().analyze(await scene.case()) == ()


async def test_of_several_declared_ports_none_is_guessed(scene):
    web(scene, ports=[{"containerPort": 9080}, {"containerPort": 9090}])
    service(scene, "web", targetPort=8081)
    (finding,) = ServicePort().analyze(await scene.case())
    assert finding.change is None


# Addresses that clients are told


@pytest.mark.parametrize(
    ("name", "value", "new"),
    [
        ("CART_ADDR", "cart:8080", "cart:80"),
        ("CART_URL", "http://cart:8080/v1", "http://cart:80/v1"),
        ("CART_ADDR", "crat:80", "cart:80"),
        ("CART_HOST", "cartt", "cart"),
        ("CART_URL", "http://cart-svc.shop.svc/v1", "http://cart.shop.svc/v1"),
    ],
)
async def test_what_a_client_is_told_becomes_what_the_service_has(scene, name, value, new):
    told(scene, name, value)
    host = value.removeprefix("http://").partition(":")[0].partition("/")[0]
    web(scene, f"ERROR cannot connect to {host}:80: connection refused")
    workload(scene, "cart")
    service(scene, "cart")
    (finding,) = ServiceAddress().analyze(await scene.case())
    assert finding.change.new == new


@pytest.mark.parametrize(
    "value", ["cart:80", "http://cart/v1", "db.example.com:5432", "localhost:80"]
)
async def test_a_right_or_a_foreign_address_is_left_alone(scene, value):
    told(scene, "CART_ADDR", value)
    web(scene)
    workload(scene, "cart")
    service(scene, "cart")
    assert ServiceAddress().analyze(await scene.case()) == ()


async def test_a_name_that_is_like_no_service_is_not_replaced(scene):
    told(scene, "API_URL", "http://legacy-billing:5000/")
    web(scene, "ERROR Failed to resolve 'legacy-billing'")
    workload(scene, "cart")
    service(scene, "cart")
    assert ServiceAddress().analyze(await scene.case()) == ()


async def test_a_port_beside_its_host_is_put_right_alone(scene):
    env = [{"name": "CART_HOST", "value": "cart"}, {"name": "CART_PORT", "value": "8080"}]
    web(scene, env=env)
    workload(scene, "cart")
    service(scene, "cart")
    (finding,) = ServiceAddress().analyze(await scene.case())
    assert (finding.change.path[-2:], finding.change.new) == (("[name=CART_PORT]", "value"), "80")


# Policies


def policy(scene, name="p", **spec):
    scene.add("NetworkPolicy", name, {"podSelector": {}, **spec})


async def test_egress_that_is_denied_takes_the_names_with_it(scene):
    web(scene, "Failed to resolve 'cart' ([Errno -3] Try again)")
    policy(scene, "deny", policyTypes=["Egress"], egress=[])
    (finding,) = NetworkPolicy().analyze(await scene.case())
    assert str(finding.object) == "NetworkPolicy shop/deny"
    assert "port 53" in finding.summary
    assert finding.confidence >= 0.9
    assert (finding.change.op, finding.change.before) == (ChangeOp.APPEND, [])
    place = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}
    doors = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
    assert finding.change.after == {"to": [place], "ports": doors}


async def test_a_second_policy_that_allows_names_opens_what_the_first_denies(scene):
    web(scene, "Failed to resolve 'cart' ([Errno -3] Try again)")
    policy(scene, "deny", policyTypes=["Egress"], egress=[])
    policy(
        scene, "dns", policyTypes=["Egress"], egress=[{"ports": [{"port": 53, "protocol": "UDP"}]}]
    )
    assert NetworkPolicy().analyze(await scene.case()) == ()


async def test_ingress_for_other_pods_blocks_the_caller(scene):
    told(scene, "CART_ADDR", "cart:80")
    web(scene, TIMEOUT)
    workload(scene, "cart")
    service(scene, "cart")
    rule = {"from": [{"podSelector": {"matchLabels": {"role": "api"}}}]}
    policy(scene, "cart-in", podSelector={"matchLabels": {"app": "cart"}}, ingress=[rule])
    (finding,) = NetworkPolicy().analyze(await scene.case())
    assert finding.confidence >= 0.9
    assert (finding.change.op, finding.change.before) == (ChangeOp.APPEND, [rule])
    caller = {"podSelector": {"matchLabels": {"app": "web", "tier": "front"}}}
    door = {"protocol": "TCP", "port": 9080}
    assert finding.change.after == {"from": [caller], "ports": [door]}


async def test_a_caller_is_let_in_by_what_chooses_its_pods_and_no_release_changes(scene):
    told(scene, "CART_ADDR", "cart:80")
    web(scene, TIMEOUT)
    scene.objects[0]["spec"]["selector"] = {"matchLabels": {"app": "web"}}
    workload(scene, "cart")
    service(scene, "cart")
    policy(scene, "cart-in", podSelector={"matchLabels": {"app": "cart"}}, ingress=[])
    (finding,) = NetworkPolicy().analyze(await scene.case())
    assert finding.change.after["from"] == [{"podSelector": {"matchLabels": {"app": "web"}}}]


async def test_a_selector_that_also_chooses_others_lets_nobody_in_beside_the_caller(scene):
    told(scene, "CART_ADDR", "cart:80")
    web(scene, TIMEOUT)
    scene.objects[0]["spec"]["selector"] = {"matchLabels": {"tier": "front"}}
    workload(scene, "cart")
    workload(scene, "shop", tier="front")
    service(scene, "cart")
    policy(scene, "cart-in", podSelector={"matchLabels": {"app": "cart"}}, ingress=[])
    (finding,) = NetworkPolicy().analyze(await scene.case())
    labels = {"app": "web", "tier": "front"}
    assert finding.change.after["from"] == [{"podSelector": {"matchLabels": labels}}]


async def test_a_route_to_a_service_with_another_word_for_a_service_is_put_right(scene):
    service(scene, "cart")
    service(scene, "checkout")
    rules = [{"backendRefs": [{"name": "cart-svc", "port": 80}]}]
    scene.add("HTTPRoute", "cart", {"rules": rules})
    (finding,) = GatewayRoute().analyze(await scene.case(scene.alert("cart", "Service")))
    assert (finding.change.old, finding.change.new) == ("cart-svc", "cart")


async def test_a_policy_that_no_failed_call_bears_out_is_not_opened(scene):
    told(scene, "CART_ADDR", "cart:80")
    web(scene)
    workload(scene, "cart")
    service(scene, "cart")
    policy(scene, "cart-in", podSelector={"matchLabels": {"app": "cart"}}, ingress=[])
    (finding,) = NetworkPolicy().analyze(await scene.case())
    assert finding.change is None


async def test_a_label_that_other_pods_need_is_not_taken_from_them(scene):
    told(scene, "CART_ADDR", "cart:80")
    web(scene, TIMEOUT)
    workload(scene, "cart")
    workload(scene, "jobs")
    service(scene, "cart")
    rule = {"from": [{"podSelector": {"matchLabels": {"app": "jobs"}}}]}
    policy(scene, "cart-in", podSelector={"matchLabels": {"app": "cart"}}, ingress=[rule])
    (finding,) = NetworkPolicy().analyze(await scene.case())
    assert (finding.change.op, finding.change.before) == (ChangeOp.APPEND, [rule])


async def test_a_port_that_nobody_listens_on_is_the_one_to_open(scene):
    told(scene, "CART_ADDR", "cart:80")
    web(scene, TIMEOUT)
    workload(scene, "cart")
    service(scene, "cart")
    rule = {"from": [{"podSelector": {"matchLabels": {"app": "web"}}}], "ports": [{"port": 80}]}
    policy(scene, "cart-in", podSelector={"matchLabels": {"app": "cart"}}, ingress=[rule])
    (finding,) = NetworkPolicy().analyze(await scene.case())
    assert (finding.change.old, finding.change.new) == (80, 9080)


async def test_policies_that_allow_what_is_needed_are_not_to_blame(scene):
    told(scene, "CART_ADDR", "cart:80")
    web(scene, TIMEOUT)
    workload(scene, "cart")
    service(scene, "cart")
    rule = {"from": [{"podSelector": {"matchLabels": {"app": "web"}}}]}
    policy(scene, "cart-in", podSelector={"matchLabels": {"app": "cart"}}, ingress=[rule])
    assert NetworkPolicy().analyze(await scene.case()) == ()


async def test_a_policy_that_was_only_listed_by_name_blames_nobody(scene):
    web(scene, TIMEOUT)
    listed = "NAME   POD-SELECTOR   AGE\ndeny   <none>         3d\n"
    (scene.folder / "kubectl get networkpolicies -n shop.txt").write_text(listed)
    assert NetworkPolicy().analyze(await scene.case()) == ()


# DNS of pods


@pytest.mark.parametrize(
    ("spec", "new"),
    [
        ({"dnsPolicy": "Default"}, "ClusterFirst"),
        ({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["192.0.2.1"]}}, "ClusterFirst"),
        ({"dnsPolicy": "ClusterFirst", "hostNetwork": True}, "ClusterFirstWithHostNet"),
    ],
)
async def test_a_pod_asks_the_clusters_name_servers_again(scene, spec, new):
    web(scene, NO_NAME)
    scene.objects[0]["spec"]["template"]["spec"] |= spec
    (finding,) = PodDns().analyze(await scene.case())
    assert finding.change.path == ("spec", "template", "spec", "dnsPolicy")
    assert (finding.change.old, finding.change.new) == (spec["dnsPolicy"], new)


async def test_name_servers_of_the_cluster_are_right_whatever_the_policy(scene):
    web(scene, NO_NAME)
    config = {"nameservers": ["10.96.0.10"], "searches": ["shop.svc.cluster.local"]}
    scene.objects[0]["spec"]["template"]["spec"] |= {"dnsPolicy": "None", "dnsConfig": config}
    assert PodDns().analyze(await scene.case()) == ()


async def test_a_pod_with_ordinary_dns_has_its_failures_elsewhere(scene):
    web(scene, NO_NAME)
    assert PodDns().analyze(await scene.case()) == ()


# Routes


def ingress(scene, **service):
    paths = [{"path": "/", "backend": {"service": service}}]
    spec = {"ingressClassName": "nginx", "rules": [{"host": "h", "http": {"paths": paths}}]}
    scene.add("Ingress", "web", spec)


@pytest.mark.parametrize(
    ("backend", "new"),
    [
        ({"name": "cartt", "port": {"number": 80}}, "cart"),
        ({"name": "cart", "port": {"number": 8080}}, 80),
        ({"name": "legacy", "port": {"number": 80}}, None),
    ],
)
async def test_an_ingress_leads_to_a_service_that_is_there(scene, backend, new):
    service(scene, "cart")
    ingress(scene, **backend)
    (finding,) = IngressRoute().analyze(await scene.case(scene.alert("cart", "Service")))
    assert finding.cause is CauseClass.INGRESS_MISROUTE
    assert (finding.change.new if finding.change else None) == new


@pytest.mark.parametrize(("there", "found"), [(["nginx"], 0), (["traefik"], 1), ([], 0)])
async def test_a_class_is_missing_only_if_classes_were_seen(scene, there, found):
    service(scene, "cart")
    ingress(scene, name="cart", port={"number": 80})
    for name in there:
        scene.add("IngressClass", name)
    assert len(IngressRoute().analyze(await scene.case(scene.alert("cart", "Service")))) == found


async def test_a_subset_that_no_rule_has_is_put_right(scene):
    service(scene, "cart")
    destination = {"host": "cart", "subset": "v2"}
    scene.add("VirtualService", "cart", {"http": [{"route": [{"destination": destination}]}]})
    scene.add("DestinationRule", "cart", {"host": "cart", "subsets": [{"name": "v1"}]})
    (finding,) = GatewayRoute().analyze(await scene.case(scene.alert("cart", "Service")))
    assert finding.cause is CauseClass.GATEWAY_ROUTE_WRONG
    assert finding.change is None


# The network itself


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("20 packets transmitted, 13 received, 35% packet loss, time 19034ms", 1),
        ("20 packets transmitted, 20 received, 0% packet loss, time 19034ms", 0),
        ("20 packets transmitted, 0 received, 100% packet loss, time 19034ms", 0),
        ("rtt min/avg/max/mdev = 0.1/0.3/0.9/0.1 ms", 0),
        ("rtt min/avg/max/mdev = 201.1/212.3/240.9/9.1 ms", 1),
        ("qdisc netem 8001: root refcnt 2 limit 1000 delay 250ms 10ms", 1),
        ("qdisc noqueue 0: root refcnt 2", 0),
    ],
)
async def test_only_a_measured_delay_or_loss_degrades_the_network(scene, text, found):
    web(scene)
    (scene.folder / "probe.txt").write_text(f"$ probe 10.2.0.7\n{text}\n")
    assert len(NetworkDegraded().analyze(await scene.case())) == found


async def test_nobody_is_kept_from_calling_itself(scene):
    told(scene, "CART_ADDR", "cart:80")
    web(scene)
    workload(scene, "cart")
    service(scene, "cart")
    policy(scene, "cart-in", podSelector={"matchLabels": {"app": "cart"}}, ingress=[])
    (scene.folder / "kubectl logs -n shop.txt").write_text(TIMEOUT)
    found = NetworkPolicy().analyze(await scene.case(scene.alert("cart", "Service")))
    assert ["Deployment shop/web reach Service shop/cart" in f.summary for f in found] == [True]


async def test_a_port_that_only_a_description_names_is_found_in_the_file_by_its_place(scene):
    ports = [{"name": "http", "port": 80, "targetPort": 8081}]
    workload(scene, "cart")
    scene.add("Service", "cart", {"selector": {"app": "cart"}, "ports": ports})
    written = {"kind": "Service", "metadata": {"name": "cart", "namespace": "shop"}}
    written |= {"spec": {"ports": [{"port": 80, "targetPort": 8081}]}}
    scene.declared = [Declared("r", "0" * 40, "cart.yaml", Manifest(written))]
    (finding,) = ServicePort().analyze(await scene.case(scene.alert("cart", "Service")))
    assert finding.change.path == ("spec", "ports", 0, "targetPort")


LOCKED = """Name:         lock
Spec:
  PodSelector:     {selects}
  Allowing ingress traffic:
    <none> (Selected pods are isolated for ingress connectivity)
  Allowing egress traffic:
    {egress}
  Policy Types: Ingress, Egress
"""


@pytest.mark.parametrize(
    ("selects", "egress", "line", "says"),
    [
        ("<none>", "<none>", "lookup db.shop: i/o timeout", True),
        ("<none>", "<none>", "Error: getaddrinfo EAI_AGAIN db.shop", True),
        ("<none>", "<none>", "dial tcp 10.0.0.4:5432: connect: connection refused", False),
        ("<none>", "<none>", "INFO started", False),
        ("app=db", "<none>", "lookup db.shop: i/o timeout", False),
        ("<none>", "To Port: 53/UDP", "lookup db.shop: i/o timeout", False),
        ("<none>", "To Port: 53/UDP", "Get http://web.shop/: context deadline exceeded", True),
    ],
)
async def test_a_namespace_that_is_shut_off_as_a_whole_is_seen_without_its_workloads(
    scene, selects, egress, line, says
):
    (scene.folder / "index.yaml").write_text("namespace: shop")
    described = LOCKED.format(selects=selects, egress=egress)
    (scene.folder / "kubectl describe networkpolicy.txt").write_text(described)
    (scene.folder / "kubectl logs web-1.txt").write_text(f"ERROR {line}")
    found = Isolation().analyze(await scene.case(scene.alert(kind="Service")))
    assert [one.cause.value for one in found] == ["network_policy_blocks"] * says


async def test_policies_beside_workloads_are_judged_by_what_the_workloads_need(scene):
    scene.deployment()
    scene.pod(ready=True, restartCount=0, state={"running": {}})
    scene.add("NetworkPolicy", "lock", {"podSelector": {}, "policyTypes": ["Egress"]})
    scene.log("ERROR lookup db.shop: i/o timeout", previous=False)
    assert Isolation().analyze(await scene.case()) == ()
