"""From a finding whose cure is more than another value to the plan, and to what is written."""

from pathlib import Path
from textwrap import dedent

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_action import recheck
from tocsin_cluster.clusters import OneCluster, UnseenCluster
from tocsin_contracts import (
    ChangeOp,
    CheckVerdict,
    EditOp,
    EndReason,
    FieldChange,
    ObjectRef,
    PlanDrafted,
    Risk,
    RunEscalated,
    RunFinished,
    RunState,
)
from tocsin_gitops.config import GitOps, Repository
from tocsin_kit.graphs import Subgraph
from tocsin_testing import build
from tocsin_testing.fakes import FakeClock, FakeRuns
from tocsin_testing.gate import FakeApprovals
from tocsin_testing.issues import FakeIssues
from tocsin_testing.repositories import FakeRepositories
from tocsin_validation import checks, graph
from tocsin_validation.assembly import Outside, assembled

REPO = "shop/platform-gitops"
FILE = "apps/api.yaml"
POD = ("spec", "template", "spec")
APP = (*POD, "containers", "[name=api]")
DEPLOYMENT = """\
    kind: Deployment
    metadata: {name: api, namespace: shop}
    spec:
      replicas: 0
      template:
        spec:
          serviceAccountName: payments
          nodeSelector:
            disk: nvme
          containers:
          - name: api
            image: a:1
            env:
            - name: USER
              valueFrom: {secretKeyRef: {name: database, key: user}}
            - name: PASSWORD
              valueFrom: {secretKeyRef: {name: database, key: password}}
            securityContext: {readOnlyRootFilesystem: true}
"""
ROLE = """\
    kind: Role
    metadata: {name: reader, namespace: shop}
    rules:
    - apiGroups: [""]
      resources: ["pods"]
      verbs: ["get"]
"""
POLICY = """\
    kind: NetworkPolicy
    metadata: {name: deny, namespace: shop}
    spec:
      podSelector: {}
      policyTypes: [Egress]
      egress: []
"""
CLAIM = """\
    kind: PersistentVolumeClaim
    metadata: {name: data, namespace: shop}
    spec:
      storageClassName: gp9
"""
JOB = """\
    kind: Job
    metadata: {name: export, namespace: shop}
    spec:
      template:
        spec:
          containers:
          - name: api
            resources: {limits: {memory: 100Mi}}
"""
DNS = {
    "to": [{"namespaceSelector": {}}],
    "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}],
}


def change(path, op=ChangeOp.SET, old=None, new=None, of="Deployment/api"):
    kind, name = of.split("/")
    values = {"old_tree" if isinstance(old, dict | list) else "old": old}
    values |= {"new_tree" if isinstance(new, dict | list) else "new": new}
    target = ObjectRef(kind=kind, namespace="shop", name=name)
    return FieldChange(object=target, path=path, op=op, **values)


def secret(name: str) -> FieldChange:
    path = (*APP, "env", f"[name={name}]", "valueFrom", "secretKeyRef", "name")
    return change(path, old="database", new="db-credentials")


class Desk:
    """Validation with one repository of one file."""

    def __init__(self, manifest: str):
        self.repositories = FakeRepositories()
        self.before = {FILE: dedent(manifest).encode()}
        self.repositories.commit(REPO, {FILE: dedent(manifest)})
        allowed = Repository(name=REPO, git_dir=Path("none.git"), paths=("apps/**",))
        self.gitops = GitOps(repositories=(allowed,))

    async def validate(self, *changes: FieldChange, seen="nothing"):
        unseen = OneCluster(UnseenCluster("no cluster is connected"))
        outside = Outside(
            self.gitops,
            self.repositories,
            unseen,
            FakeIssues(),
            FakeRuns(),
            FakeApprovals(FakeClock()),
        )
        handlers = assembled(
            outside,
            checks.load(),
            lambda nodes: Subgraph("validation", graph.build(nodes), InMemorySaver()),
        )
        first, *further = changes
        finding = build.finding(object=first.object, change=first, further=tuple(further))
        evidence = (build.evidence(excerpt=seen),)
        hypothesis = build.hypothesis(finding=finding, evidence=evidence)
        return await handlers.on_hypothesis_formed(build.hypothesis_formed(hypothesis=hypothesis))

    async def plan(self, *changes: FieldChange, seen="nothing"):
        (drafted,) = await self.validate(*changes, seen=seen)
        assert isinstance(drafted, PlanDrafted), drafted
        after, why = recheck.rebuilt(drafted.plan, self.before, self.gitops.policy)
        assert (why, list(after)) == ("", [FILE])
        return drafted.plan


PLANS = [
    (
        DEPLOYMENT,
        [change((*APP, "resources", "requests", "cpu"), ChangeOp.INSERT, new="100m")],
        ["+        resources:", "+          requests:", "+            cpu: 100m"],
        "api: add cpu 100m",
    ),
    (
        POLICY,
        [change(("spec", "egress"), ChangeOp.APPEND, [], DNS, "NetworkPolicy/deny")],
        [
            "-  egress: []",
            "+  egress:",
            "+  - to:",
            "+    - namespaceSelector: {}",
            "+    ports:",
            "+    - protocol: UDP",
            "+      port: 53",
            "+    - protocol: TCP",
            "+      port: 53",
        ],
        None,
    ),
    (
        DEPLOYMENT,
        [secret("USER"), secret("PASSWORD")],
        [
            "-          valueFrom: {secretKeyRef: {name: database, key: user}}",
            "+          valueFrom: {secretKeyRef: {name: db-credentials, key: user}}",
            "-          valueFrom: {secretKeyRef: {name: database, key: password}}",
            "+          valueFrom: {secretKeyRef: {name: db-credentials, key: password}}",
        ],
        "api: name database -> db-credentials",
    ),
    (
        DEPLOYMENT,
        [change((*POD, "nodeSelector", "disk"), ChangeOp.DELETE, "nvme")],
        ["-      nodeSelector:", "-        disk: nvme", "+      nodeSelector: {}"],
        "api: remove disk",
    ),
    (
        CLAIM,
        [change(("spec", "storageClassName"), old="gp9", new="gp2",
                of="PersistentVolumeClaim/data")],
        ["-  storageClassName: gp9", "+  storageClassName: gp2"],
        "data: storageClassName gp9 -> gp2",
    ),
    (
        DEPLOYMENT,
        [change(("spec", "replicas"), old=0, new=1)],
        ["-  replicas: 0", "+  replicas: 1"],
        "api: replicas 0 -> 1",
    ),
    (
        DEPLOYMENT,
        [change((*POD, "serviceAccountName"), old="payments", new="payment")],
        ["-      serviceAccountName: payments", "+      serviceAccountName: payment"],
        "api: serviceAccountName payments -> payment",
    ),
    (
        DEPLOYMENT,
        [
            change((*POD, "volumes"), ChangeOp.INSERT, new=[{"name": "tmp", "emptyDir": {}}]),
            change((*APP, "volumeMounts"), ChangeOp.INSERT,
                   new=[{"name": "tmp", "mountPath": "/tmp"}]),
        ],
        [
            "+        volumeMounts:",
            "+        - name: tmp",
            "+          mountPath: /tmp",
            "+      volumes:",
            "+      - name: tmp",
            "+        emptyDir: {}",
        ],
        "api: add volumes, add volumeMounts",
    ),
    (
        DEPLOYMENT,
        [change((*APP, "env"), ChangeOp.APPEND,
                [{"name": n, "valueFrom": {"secretKeyRef": {"name": "database", "key": k}}}
                 for n, k in (("USER", "user"), ("PASSWORD", "password"))],
                {"name": "STAGE", "value": "prod"})],
        ["+        - name: STAGE", "+          value: prod"],
        None,
    ),
]  # fmt: skip
SEEN = "Secret db-credentials, StorageClass gp2, ServiceAccount payment, env STAGE=prod"
SEEN = SEEN.replace("=", " ").replace(",", " ")


@pytest.mark.parametrize(("manifest", "changes", "lines", "title"), PLANS)
async def test_a_finding_becomes_a_plan_of_exactly_the_lines_it_asks_for(
    manifest, changes, lines, title
):
    plan = await Desk(manifest).plan(*changes, seen=SEEN)
    marks = ("+++", "---")
    changed = [
        line
        for line in plan.diff.splitlines()
        if line.startswith(("+", "-")) and not line.startswith(marks)
    ]
    assert changed == lines
    failed = {one.check for one in plan.checks if one.verdict is CheckVerdict.FAIL}
    assert failed <= {"fields-are-mutable"}
    assert [edit.op.value for edit in plan.edits] == [change.op.value for change in changes]
    if title:
        assert plan.title == title


async def test_what_changes_in_two_places_is_one_plan_or_none():
    other = change((*APP, "env", "[name=HOST]", "value"), old="a", new="b")
    told, _ = await Desk(DEPLOYMENT).validate(secret("USER"), other, seen=SEEN)
    assert isinstance(told, RunEscalated)
    assert told.reason is EndReason.TARGET_UNRESOLVED


async def test_a_place_that_is_right_already_is_left_out_of_the_plan():
    half = DEPLOYMENT.replace("name: database, key: user", "name: db-credentials, key: user")
    plan = await Desk(half).plan(secret("USER"), secret("PASSWORD"), seen=SEEN)
    (edit,) = plan.edits
    assert "[name=PASSWORD]" in edit.path


@pytest.mark.parametrize(
    ("manifest", "one", "sentence"),
    [
        (DEPLOYMENT, change((*APP, "image"), ChangeOp.INSERT, new="a:2"), "'a:1'"),
        (DEPLOYMENT, change((*POD, "nodeSelector", "disk"), ChangeOp.DELETE, "ssd"), "'nvme'"),
        (
            ROLE.replace('"get"', '"watch"'),
            change(("rules", 0, "verbs"), ChangeOp.APPEND, ["get"], "list", "Role/reader"),
            "['watch']",
        ),
    ],
)
async def test_a_file_that_moved_on_is_handed_over(manifest, one, sentence):
    told, _ = await Desk(manifest).validate(one, seen=SEEN)
    assert isinstance(told, RunEscalated)
    assert told.reason is EndReason.CHECKS_FAILED
    assert sentence in told.sentence


async def test_a_right_that_the_file_gives_already_needs_a_sync():
    one = change(("rules", 0, "verbs"), ChangeOp.APPEND, ["get"], "get", "Role/reader")
    (ended,) = await Desk(ROLE).validate(one)
    assert isinstance(ended, RunFinished)
    assert (ended.outcome, ended.reason) == (RunState.NO_CHANGE, EndReason.ALREADY_FIXED)


async def test_a_name_that_nobody_has_seen_never_becomes_a_plan():
    for seen in ("nothing", "db-credentials-old", "my-shop/db-credentials", "db-credentials.old"):
        told, _ = await Desk(DEPLOYMENT).validate(secret("USER"), seen=seen)
        assert isinstance(told, RunEscalated)
        assert "nothing that is cited shows 'db-credentials'" in told.sentence


async def test_a_name_may_be_seen_as_that_of_an_object_of_the_namespace():
    plan = await Desk(DEPLOYMENT).plan(secret("USER"), seen="object: Secret shop/db-credentials")
    assert plan.edits[0].new == "db-credentials"


async def test_a_right_to_everything_never_becomes_a_plan():
    one = change(("rules", 0, "verbs"), ChangeOp.APPEND, ["get"], "*", "Role/reader")
    told, _ = await Desk(ROLE).validate(one)
    assert isinstance(told, RunEscalated)
    assert told.reason is EndReason.POLICY_DENIED


async def test_where_no_edit_is_safe_the_proposal_names_every_change():
    anchored = DEPLOYMENT.replace("spec:\n      replicas", "spec: &all\n      replicas")
    manifest = anchored + "    status: *all\n"
    insert = change((*APP, "resources", "requests", "cpu"), ChangeOp.INSERT, new="100m")
    delete = change((*POD, "nodeSelector", "disk"), ChangeOp.DELETE, "nvme")
    desk = Desk(manifest)
    (drafted,) = await desk.validate(insert, delete)
    (edit,) = drafted.plan.edits
    assert edit.op is EditOp.CREATE
    assert "requests.cpu`\nShould be: `100m`\n" in edit.new
    assert "nodeSelector.disk`\nNow: `nvme`\nShould be: nothing\n" in edit.new
    assert "&all" in edit.new


@pytest.mark.parametrize(
    ("manifest", "one", "who"),
    [
        (JOB, change((*APP, "resources", "limits", "memory"), old="100Mi", new="200Mi",
                     of="Job/export"), "Job export"),
        (CLAIM, change(("spec", "storageClassName"), old="gp9", new="gp2",
                       of="PersistentVolumeClaim/data"), "PersistentVolumeClaim data"),
    ],
)  # fmt: skip
async def test_what_a_cluster_does_not_change_in_place_is_said_and_needs_more_care(
    manifest, one, who
):
    plan = await Desk(manifest).plan(one, seen=SEEN)
    assert plan.risk is Risk.HIGH
    assert f"does not change this of {who} in place" in plan.body
    assert "## After the merge" in plan.body


async def test_a_change_in_place_says_nothing_of_replacing():
    plan = await Desk(DEPLOYMENT).plan(change(("spec", "replicas"), old=0, new=1))
    assert plan.risk is not Risk.HIGH
    assert "After the merge" not in plan.body


async def test_names_and_additions_need_more_care():
    for manifest, changes, _, _ in PLANS[:3]:
        assert (await Desk(manifest).plan(*changes, seen=SEEN)).risk is Risk.HIGH
