from tocsin_cluster.printed import Printed
from tocsin_cluster.reading import read

DESCRIBED = """\
Name:         db
Namespace:    shop
Created on:   2026-03-02 09:00:00 +0000 UTC
Labels:       <none>
Annotations:  <none>
Spec:
  PodSelector:     role=db,tier=back
  Allowing ingress traffic:
    To Port: 6379/TCP
    To Port: metrics/TCP
    From:
      NamespaceSelector: team=a
      PodSelector: app=web
    From:
      IPBlock:
        CIDR: 172.17.0.0/16
        Except: 172.17.1.0/24
    ----------
    To Port: <any> (traffic allowed to all ports)
    From: <any> (traffic not restricted by source)
  Allowing egress traffic:
    <none> (Selected pods are isolated for egress connectivity)
  Policy Types: Ingress, Egress
"""


def policy(text):
    (one,) = read([Printed.of("kubectl describe netpol -n shop", text)], "shop").objects
    return one


def test_the_rules_of_a_described_policy_are_those_it_was_written_with():
    assert policy(DESCRIBED).dig("spec") == {
        "podSelector": {"matchLabels": {"role": "db", "tier": "back"}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [
            {
                "ports": [
                    {"port": 6379, "protocol": "TCP"},
                    {"port": "metrics", "protocol": "TCP"},
                ],
                "from": [
                    {
                        "namespaceSelector": {"matchLabels": {"team": "a"}},
                        "podSelector": {"matchLabels": {"app": "web"}},
                    },
                    {"ipBlock": {"cidr": "172.17.0.0/16", "except": ["172.17.1.0/24"]}},
                ],
            },
            {"from": []},
        ],
        "egress": [],
    }


def test_a_direction_that_is_not_affected_is_no_rule_of_the_other():
    allowed = "    <none> (Selected pods are isolated for egress connectivity)\n"
    text = DESCRIBED.replace(
        f"  Allowing egress traffic:\n{allowed}", "  Not affecting egress traffic\n"
    )
    assert policy(text).dig("spec", "ingress") == policy(DESCRIBED).dig("spec", "ingress")


def test_a_policy_for_every_pod_selects_all():
    text = DESCRIBED.replace(
        "role=db,tier=back", "<none> (Allowing the specific traffic to all pods in this namespace)"
    )
    assert policy(text).dig("spec", "podSelector") == {}


def test_a_policy_with_a_rule_that_cannot_be_read_tells_no_rules():
    text = DESCRIBED.replace("PodSelector: app=web", "PodSelector: app in (web,api)")
    assert policy(text).dig("spec") is None
