"""What may be added and taken away by the write policy, and what never."""

import pytest

from tocsin_contracts import Edit, EditOp, ObjectRef
from tocsin_gitops.bounds import Limits
from tocsin_gitops.field_rules import RULES
from tocsin_gitops.policy import Change, RepositoryRule, Rule, WritePolicy, judge

POLICY = WritePolicy(repositories=(RepositoryRule(name="shop/gitops", paths=("apps/**",)),))
FILE = "apps/api.yaml"
POD = ("spec", "template", "spec")
CONTAINER = (*POD, "containers", "[name=api]")
DNS = {"to": [{"namespaceSelector": {}}], "ports": [{"protocol": "UDP", "port": 53}]}
WEB = {"podSelector": {"matchLabels": {"app": "web"}}}
STARTUP = {"httpGet": {"path": "/healthz", "port": 8080}, "failureThreshold": 30}


def edit(op: EditOp, path, kind="Deployment", old=None, new=None) -> Edit:
    document = ObjectRef(kind=kind, namespace="shop", name="api")
    trees = {"old_tree" if isinstance(old, dict | list) else "old": old}
    trees |= {"new_tree" if isinstance(new, dict | list) else "new": new}
    return Edit(file=FILE, op=op, document=document, path=path, **trees)


def broken(*edits: Edit, before=b"a: 1\n", policy=POLICY) -> set[Rule]:
    files = {FILE: before}
    change = Change("shop/gitops", edits, files, {FILE: before + b"b: 2\n"}, {FILE: "100644"})
    violations = judge(policy, change)
    assert all(violation.detail for violation in violations)
    return {violation.rule for violation in violations}


INSERTED = [
    ("Deployment", (*CONTAINER, "resources", "requests", "cpu"), "100m", "3"),
    ("Deployment", (*CONTAINER, "resources", "requests"), {"cpu": "1"}, {"cpu": "0"}),
    ("Pod", ("spec", "containers", 0, "resources", "requests", "memory"), "4Gi", "5Gi"),
    ("Pod", ("spec", "containers", 0, "resources", "limits", "memory"), "16Gi", "17Gi"),
    ("Deployment", (*CONTAINER, "readinessProbe", "httpGet", "scheme"), "HTTPS", "FTP"),
    ("Deployment", (*CONTAINER, "securityContext", "allowPrivilegeEscalation"), False, True),
    ("Deployment", (*CONTAINER, "resources", "limits", "memory"), "1Gi", "much"),
    ("Deployment", (*CONTAINER, "livenessProbe", "initialDelaySeconds"), 30, -1),
    ("Deployment", (*CONTAINER, "startupProbe"), STARTUP, {"exec": {"command": ["true"]}}),
    ("Deployment", (*CONTAINER, "startupProbe"), STARTUP, STARTUP | {"tcpSocket": {"port": 1}}),
    ("Deployment", (*CONTAINER, "startupProbe"), STARTUP,
     {"httpGet": {"port": 80, "host": "evil.example"}}),
    ("Deployment", (*CONTAINER, "env"), [{"name": "A", "value": "b"}], []),
    ("Deployment", (*CONTAINER, "env"), [{"name": "A", "value": "b"}],
     [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "x", "key": "y"}}}]),
    ("Deployment", (*POD, "tolerations"), [{"key": "a"}], [{"operator": "Exists"}]),
    ("Deployment", (*POD, "volumes"), [{"name": "t", "emptyDir": {}}],
     [{"name": "t", "hostPath": {"path": "/"}}]),
    ("ConfigMap", ("data", "log.level"), "info", "two\nlines"),
    ("NetworkPolicy", ("spec", "egress"), [DNS], [{}]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "path", "good", "bad"), INSERTED)
def test_a_field_may_be_added_within_its_bound_and_no_further(kind, path, good, bad):
    assert broken(edit(EditOp.INSERT, path, kind, new=good)) == set()
    assert broken(edit(EditOp.INSERT, path, kind, new=bad)) == {Rule.BOUND}


def open_to(**changes) -> dict:
    return {"from": [WEB], "ports": [{"port": 8080}]} | changes


APPENDED = [
    ("Deployment", (*CONTAINER, "env"), {"name": "A", "value": "b"}, {"name": "A-B", "value": "b"}),
    ("Deployment", (*CONTAINER, "env"), {"name": "A", "value": "b"}, {"name": "A"}),
    ("Deployment", (*POD, "tolerations"), {"key": "gpu", "operator": "Exists"}, {"key": ""}),
    ("Deployment", (*POD, "tolerations"), {"key": "gpu", "effect": "NoSchedule"},
     {"key": "gpu", "effect": "Any"}),
    ("Deployment", (*POD, "volumes"), {"name": "t", "emptyDir": {"sizeLimit": "1Gi"}},
     {"name": "t", "emptyDir": {"medium": "Memory"}}),
    ("Deployment", (*POD, "volumes"), {"name": "t", "emptyDir": {}},
     {"name": "t", "secret": {"secretName": "root"}}),
    ("NetworkPolicy", ("spec", "egress"), DNS, {}),
    ("NetworkPolicy", ("spec", "egress"), DNS, DNS | {"ports": []}),
    ("NetworkPolicy", ("spec", "egress"), DNS, DNS | {"ports": [{"port": 443}]}),
    ("NetworkPolicy", ("spec", "egress"), DNS, DNS | {"to": []}),
    ("NetworkPolicy", ("spec", "egress"), DNS, DNS | {"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}),
    ("NetworkPolicy", ("spec", "egress"), DNS, {"ports": DNS["ports"]}),
    ("NetworkPolicy", ("spec", "egress"), DNS, DNS | {"ports": [{"port": 1, "endPort": 65535}]}),
    ("NetworkPolicy", ("spec", "ingress"), open_to(), open_to(**{"from": [{}]})),
    ("NetworkPolicy", ("spec", "ingress"), open_to(), open_to(ports=[{"protocol": "TCP"}])),
    ("NetworkPolicy", ("spec", "ingress"), open_to(), open_to(**{"from": [{"podSelector": {}}]})),
    ("NetworkPolicy", ("spec", "ingress"), open_to(),
     open_to(**{"from": [{"namespaceSelector": {}}], "ports": [{"port": 53}]})),
    ("NetworkPolicy", ("spec", "ingress", 0, "from"), WEB,
     {"podSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "path", "good", "bad"), APPENDED)
def test_an_item_may_be_added_within_its_bound_and_no_further(kind, path, good, bad):
    assert broken(edit(EditOp.APPEND, path, kind, old=[], new=good)) == set()
    assert broken(edit(EditOp.APPEND, path, kind, old=[], new=bad)) == {Rule.BOUND}


@pytest.mark.parametrize(
    ("command", "may"),
    [
        (["sh", "-c", "exit 1"], True),
        (["/bin/bash", "-c", "exit 3"], True),
        (["false"], True),
        (["/bin/false"], True),
        (["sh", "-c", "exit 0"], False),
        (["sh", "-c", "test -f /ok || exit 1"], False),
        (["sh", "-c", "exit 1", "x"], False),
        (["echo", "exit 1"], False),
        (["cat", "false"], False),
        ([], False),
    ],
)
def test_only_a_probe_that_can_never_pass_may_be_taken_away(command, may):
    one = edit(EditOp.DELETE, (*CONTAINER, "livenessProbe"), old={"exec": {"command": command}})
    assert broken(one) == (set() if may else {Rule.BOUND})


def test_a_label_that_nodes_are_chosen_by_may_be_taken_away_and_nothing_else_like_it():
    assert broken(edit(EditOp.DELETE, (*POD, "nodeSelector", "disk"), old="ssd")) == set()
    affinity = edit(EditOp.DELETE, (*POD, "affinity"), old={})
    assert broken(affinity) == {Rule.FIELD}


@pytest.mark.parametrize(("selector", "may"), [("{a: b, c: d}", True), ("{c: d}", False)])
def test_a_label_that_pods_are_chosen_by_may_go_if_another_is_left(selector, may):
    manifest = (
        "apiVersion: v1\nkind: Service\nmetadata: {name: api, namespace: shop}\n"
        f"spec: {{selector: {selector}}}\n"
    ).encode()
    one = edit(EditOp.DELETE, ("spec", "selector", "c"), "Service", old="d")
    assert broken(one, before=manifest) == (set() if may else {Rule.BOUND})


@pytest.mark.parametrize(
    ("op", "path", "kind"),
    [
        (EditOp.APPEND, ("rules", 0, "verbs"), "ClusterRole"),
        (EditOp.APPEND, ("rules", 0, "verbs"), "Role"),
        (EditOp.APPEND, ("rules", 0, "resources"), "Role"),
        (EditOp.APPEND, ("rules",), "Role"),
        (EditOp.SET, ("rules", 0, "verbs", 0), "Role"),
        (EditOp.APPEND, ("subjects",), "RoleBinding"),
        (EditOp.INSERT, ("data", "x"), "Secret"),
        (EditOp.SET, ("spec", "podSelector", "matchLabels", "app"), "NetworkPolicy"),
        (EditOp.DELETE, ("spec", "ingress", 0), "NetworkPolicy"),
    ],
)
def test_kinds_that_decide_about_rights_change_in_no_other_way(op, path, kind):
    assert broken(edit(op, path, kind, new="list")) == {Rule.KIND}


PORT = ("spec", "ingress", 0, "ports", 0, "port")


def test_an_operator_can_forbid_what_the_exceptions_allow():
    policy = POLICY.model_copy(update={"limits": Limits(denied_kinds=("NetworkPolicy",))})
    door = edit(EditOp.SET, PORT, "NetworkPolicy", old=80, new=81)
    assert broken(door) == set()
    assert broken(door, policy=policy) == {Rule.KIND}


@pytest.mark.parametrize(
    ("op", "path", "new"),
    [
        (EditOp.INSERT, (*CONTAINER, "securityContext", "privileged"), True),
        (EditOp.INSERT, (*CONTAINER, "resources"), {}),
        (EditOp.INSERT, (*CONTAINER, "resources"), {"requests": {"cpu": "1", "x.io/gpu": 1}}),
        (EditOp.INSERT, (*CONTAINER, "livenessProbe"), STARTUP),
        (EditOp.INSERT, ("metadata", "annotations", "a"), "b"),
        (EditOp.APPEND, (*POD, "containers"), {"name": "x", "image": "evil"}),
        (EditOp.APPEND, (*POD, "initContainers"), {"name": "x", "image": "evil"}),
        (EditOp.APPEND, (*CONTAINER, "command"), "x"),
        (EditOp.APPEND, (*CONTAINER, "envFrom"), {"secretRef": {"name": "x"}}),
        (EditOp.DELETE, (*CONTAINER, "resources", "limits"), None),
        (EditOp.DELETE, (*POD, "containers", 0), None),
        (EditOp.DELETE, (), None),
    ],
)
def test_what_is_not_listed_is_neither_added_nor_taken_away(op, path, new):
    assert broken(edit(op, path, new=new)) == {Rule.FIELD}


def mounted(path="/tmp", name="tmp") -> Edit:
    mount = {"name": name, "mountPath": path}
    return edit(EditOp.INSERT, (*CONTAINER, "volumeMounts"), new=[mount])


def volume(name="tmp") -> Edit:
    return edit(EditOp.INSERT, (*POD, "volumes"), new=[{"name": name, "emptyDir": {}}])


def test_an_empty_volume_may_be_mounted_where_it_was_added_for():
    assert broken(volume(), mounted()) == set()


def test_no_volume_that_was_there_before_is_mounted_anywhere_else():
    assert broken(mounted()) == {Rule.FIELD}
    assert broken(volume("other"), mounted()) == {Rule.FIELD}


@pytest.mark.parametrize(
    "path", ["/", "/etc/ssl", "/usr", "tmp", "/a/../etc", "/var/run/secrets/x", "/x\n", ""]
)
def test_nothing_is_mounted_over_what_the_system_needs(path):
    assert broken(volume(), mounted(path)) == {Rule.BOUND}


def test_every_rule_is_part_of_the_version_of_the_policy():
    assert len({str(rule) for rule in RULES}) == len(RULES)
