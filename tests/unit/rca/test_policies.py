import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_cluster.manifest import Manifest
from tocsin_rca.evidence.known import Known
from tocsin_rca.evidence.openings import opening
from tocsin_rca.evidence.policies import (
    Direction,
    Door,
    End,
    allows,
    directions,
    isolates,
    matches,
)

FRONT = End("shop", {"app": "front"}, {"team": "a"})
DNS = End("kube-system", {"k8s-app": "kube-dns"}, {"kubernetes.io/metadata.name": "kube-system"})
IN, OUT = Direction.INGRESS, Direction.EGRESS
TEAM_A, TEAM_B = ({"namespaceSelector": {"matchLabels": {"team": team}}} for team in "ab")
LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"), max_size=3)


def policy(**spec):
    raw = {"kind": "NetworkPolicy", "metadata": {"name": "p", "namespace": "shop"}, "spec": spec}
    return Known(Manifest(raw), ("e1",))


def ingress(*rules):
    return policy(podSelector={}, policyTypes=["Ingress"], ingress=list(rules))


def pods(**labels):
    return {"podSelector": {"matchLabels": labels}}


def expression(**said):
    return {"podSelector": {"matchExpressions": [{"key": "app", **said}]}}


@pytest.mark.parametrize(
    ("rule", "let"),
    [
        ({}, True),
        ({"from": [pods(app="front")]}, True),
        ({"from": [pods(app="other")]}, False),
        ({"from": [pods(app="other"), pods(app="front")]}, True),
        ({"from": [{"namespaceSelector": {}}]}, True),
        ({"from": [TEAM_A]}, True),
        ({"from": [TEAM_B]}, False),
        ({"from": [TEAM_A | pods(app="front")]}, True),
        ({"from": [TEAM_B | pods(app="front")]}, False),
        ({"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}, True),
        ({"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}, False),
        ({"ports": [{"port": 80}]}, True),
        ({"ports": [{"port": 81}]}, False),
        ({"ports": [{"port": 70, "endPort": 90}]}, True),
        ({"ports": [{"port": 80, "protocol": "UDP"}]}, False),
        ({"ports": [{"port": "http"}]}, True),
        ({"ports": [{"port": "grpc"}]}, False),
        ({"ports": [{"protocol": "TCP"}]}, True),
        ({"from": [expression(operator="In", values=["front"])]}, True),
        ({"from": [expression(operator="NotIn", values=["front"])]}, False),
        ({"from": [expression(operator="Exists")]}, True),
        ({"from": [expression(operator="DoesNotExist")]}, False),
    ],
)
def test_a_rule_lets_through_what_kubernetes_lets_through(rule, let):
    assert allows(ingress(rule), IN, FRONT, Door(80, "TCP", "http")) is let


def test_no_rule_lets_nothing_through():
    assert allows(ingress(), IN, FRONT, Door(80)) is False


def test_a_named_port_of_an_unknown_container_cannot_be_told():
    assert allows(ingress({"ports": [{"port": "http"}]}), IN, FRONT, Door(80)) is None


def test_an_address_range_may_hold_what_is_outside():
    rule = {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}
    out = policy(podSelector={}, policyTypes=["Egress"], egress=[rule])
    assert allows(out, OUT, None, Door(443)) is None


@pytest.mark.parametrize(
    ("spec", "both"),
    [
        ({}, (IN,)),
        ({"egress": []}, (IN, OUT)),
        ({"policyTypes": ["Egress"]}, (OUT,)),
        ({"policyTypes": ["Ingress", "Egress"]}, (IN, OUT)),
    ],
)
def test_a_policy_restricts_what_it_names_or_what_kubernetes_assumes(spec, both):
    assert directions(policy(podSelector={}, **spec)) == both


def test_a_policy_of_another_namespace_or_of_other_pods_does_not_restrict():
    own = policy(podSelector={"matchLabels": {"app": "front"}})
    assert isolates(own, FRONT, IN)
    assert not isolates(own, End("other", {"app": "front"}), IN)
    assert not isolates(own, End("shop", {"app": "back"}), IN)
    assert not isolates(own, FRONT, OUT)


@settings(max_examples=80, deadline=None)
@given(LABELS, LABELS)
def test_more_labels_never_take_a_pod_out_of_a_selection(wanted, more):
    carried = {**more, **wanted}
    assert matches({"matchLabels": wanted}, carried)
    assert matches({"matchLabels": {}}, more)


def test_dns_is_let_through_by_its_namespace_and_port():
    rule = {
        "to": [{"namespaceSelector": {"matchLabels": DNS.namespace_labels}}],
        "ports": [{"protocol": "UDP", "port": 53}],
    }  # fmt: skip
    out = policy(podSelector={}, policyTypes=["Egress"], egress=[rule])
    assert allows(out, OUT, DNS, Door(53, "UDP")) is True
    assert allows(out, OUT, FRONT, Door(53, "UDP")) is False


def test_one_wrong_label_or_port_is_an_opening_and_two_are_none():
    label = ingress({"from": [pods(app="frnt")], "ports": [{"port": 80}]})
    (one,) = opening(label, IN, FRONT, Door(80))
    assert (one.path[-1], one.old, one.new) == ("app", "frnt", "front")
    port = ingress({"from": [pods(app="front")], "ports": [{"port": 8080}]})
    (other,) = opening(port, IN, FRONT, Door(80))
    assert (other.old, other.new) == (8080, 80)
    both = ingress({"from": [pods(app="frnt")], "ports": [{"port": 8080}]})
    assert list(opening(both, IN, FRONT, Door(80))) == []
