from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts import Edit, EditOp, ObjectRef
from tocsin_gitops import images, path_rules, quantity
from tocsin_gitops.policy import Change, Limits, RepositoryRule, Rule, WritePolicy, judge

POLICY = WritePolicy(repositories=(RepositoryRule(name="shop/gitops", paths=("apps/**",)),))
CONTAINER = ("spec", "template", "spec", "containers", "[name=api]")
FILE = "apps/api/deployment.yaml"
POD = ("spec", "template", "spec")
KEY_REF = ("env", "[name=A]", "valueFrom", "secretKeyRef")
STORAGE = ("resources", "requests", "storage")


def edit(path=("spec", "replicas"), old=2, new=3, kind="Deployment", file=FILE) -> Edit:
    document = ObjectRef(kind=kind, namespace="payments", name="api")
    return Edit(file=file, document=document, path=path, old=old, new=new)


def created(file="remediations/api.md", text="# Why\n") -> Edit:
    return Edit(file=file, op=EditOp.CREATE, new=text)


def change(*edits: Edit, repo="shop/gitops", mode="100644", **fields) -> Change:
    old = {e.file: b"a: 1\n" for e in edits if e.op is not EditOp.CREATE}
    content = {
        "before": old,
        "after": {e.file: b"a: 2\n" for e in edits},
        "modes": dict.fromkeys(old, mode),
    }
    return Change(repo=repo, edits=edits, **(content | fields))


def broken(the_change: Change, policy: WritePolicy = POLICY) -> set[Rule]:
    violations = judge(policy, the_change)
    assert all(violation.detail for violation in violations)
    return {violation.rule for violation in violations}


def test_a_small_change_of_an_allowed_field_may_be_written():
    assert broken(change(edit())) == set()


def test_a_proposal_may_be_created_where_proposals_go():
    assert broken(change(created())) == set()


def test_without_an_allowed_repository_nothing_may_be_written():
    assert broken(change(edit(), repo="attacker/x")) == {Rule.REPOSITORY}
    assert broken(change(edit()), WritePolicy()) == {Rule.REPOSITORY}


NEVER_WRITTEN = [
    ".github/workflows/ci.yaml",
    "apps/.github/workflows/ci.yaml",
    ".GitHub/workflows/ci.yaml",
    ".gi\u0307thub/x.yaml",
    "\uff0egithub/x.yaml",
    ".github./x.yaml",
    ".github /x.yaml",
    "GITHUB~1/x.yaml",
    ".gitlab-ci.yml",
    ".gitlab-ci/build.yml",
    ".gitea/workflows/ci.yaml",
    ".forgejo/workflows/ci.yaml",
    ".git/config",
    "apps/.GIT/hooks/x.yaml",
    ".gitmodules",
    ".gitattributes",
    "CODEOWNERS",
    "apps/CODEOWNERS",
    "docs/codeowners",
    "CODEOWNER\u017f",
    ".argocd-source.yaml",
    "apps/api/.argocd-source-api.yaml",
    "apps/api/Chart.lock",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "../etc/passwd.yaml",
    "apps/../../x.yaml",
    "apps/./x.yaml",
    "apps//x.yaml",
    "/etc/x.yaml",
    "apps/",
    "",
    "apps/x\0.yaml",
    "apps\\x.yaml",
    "C:/x.yaml",
    "apps/x.yaml:stream",
    "apps/x\n.yaml",
    "apps/cafe\u0301.yaml",
    "apps/\u202egmp.yaml",
    "apps/.g\u200bithub/x.yaml",
    "apps/x.yaml ",
]


@pytest.mark.parametrize("path", NEVER_WRITTEN)
def test_a_path_that_is_never_written_is_refused_whatever_the_operator_allows(path):
    anything = RepositoryRule(name="shop/gitops", paths=("**",), proposals=("**",))
    policy = WritePolicy(repositories=(anything,))
    assert broken(change(edit(file=path)), policy) == {Rule.PATH}
    assert broken(change(created(file=path)), policy) == {Rule.PATH}


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("apps/**", "apps/a.yaml", True),
        ("apps/**", "apps/a/b/c.yaml", True),
        ("apps/**", "other/a.yaml", False),
        ("apps/**", "apps", False),
        ("apps/*.yaml", "apps/a.yaml", True),
        ("apps/*.yaml", "apps/b/a.yaml", False),
        ("**/values.yaml", "values.yaml", True),
        ("**/values.yaml", "a/b/values.yaml", True),
        ("**/values.yaml", "a/myvalues.yaml", False),
        ("a?c.yaml", "abc.yaml", True),
        ("a?c.yaml", "a/c.yaml", False),
        ("a.yaml", "axyaml", False),
        ("apps/**/prod/*.yaml", "apps/prod/a.yaml", True),
        ("apps/**/prod/*.yaml", "apps/x/y/prod/a.yaml", True),
        ("remediations/*.md", "remediations/x.md", True),
        ("APPS/**", "apps/a.yaml", False),
    ],
)
def test_a_glob_stays_in_a_folder_unless_it_says_otherwise(glob, path, matches):
    assert path_rules.allowed(path, (glob,)) is matches


def test_a_file_outside_of_the_allowed_paths_may_not_change():
    assert broken(change(edit(file="infra/a.yaml"))) == {Rule.PATH}
    assert broken(change(created(file="apps/new.yaml"))) == {Rule.PATH}
    assert broken(change(edit(file="remediations/a.md"))) == {Rule.PATH}


def test_an_operator_can_forbid_proposals():
    rule = RepositoryRule(name="shop/gitops", paths=("apps/**",), proposals=())
    assert broken(change(created()), WritePolicy(repositories=(rule,))) == {Rule.PATH}


@pytest.mark.parametrize("mode", ["120000", "160000", "040000", "unknown"])
def test_links_submodules_and_folders_are_never_written(mode):
    assert broken(change(edit(), mode=mode)) == {Rule.MODE}
    assert broken(change(edit(), modes={})) == {Rule.MODE}


def test_an_executable_may_be_edited():
    assert broken(change(edit(), mode="100755")) == set()


NEVER_KINDS = [
    "Secret",
    "secret",
    "SealedSecret",
    "ExternalSecret",
    "ClusterExternalSecret",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "ServiceAccount",
    "CustomResourceDefinition",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "NetworkPolicy",
    "CiliumNetworkPolicy",
    "Namespace",
    "PodSecurityPolicy",
    "Application",
    "ApplicationSet",
    "AppProject",
    "HelmRelease",
    "GitRepository",
    "Kustomization",
]


@pytest.mark.parametrize("kind", NEVER_KINDS)
def test_some_kinds_are_never_changed(kind):
    assert broken(change(edit(kind=kind))) == {Rule.KIND}


def test_an_operator_can_forbid_more_kinds():
    policy = POLICY.model_copy(update={"limits": Limits(denied_kinds=("Deploy*",))})
    assert broken(change(edit()), policy) == {Rule.KIND}


FIELDS = [
    ("Deployment", (*CONTAINER, "resources", "limits", "memory"), "192Mi", "768Mi", "769Mi"),
    ("Deployment", (*CONTAINER, "resources", "limits", "memory"), "192Mi", "48Mi", "47Mi"),
    ("StatefulSet", (*CONTAINER, "resources", "requests", "memory"), "1Gi", "4096Mi", "0"),
    ("DaemonSet", (*CONTAINER, "resources", "limits", "cpu"), "500m", 2, "2001m"),
    ("DaemonSet", (*CONTAINER, "resources", "requests", "cpu"), 1, "250m", "-1"),
    ("Deployment", ("spec", "replicas"), 2, 4, 5),
    ("Deployment", ("spec", "replicas"), 2, 1, 0),
    ("Deployment", ("spec", "replicas"), 0, 5, 6),
    ("Deployment", ("spec", "paused"), True, False, True),
    ("Deployment", (*POD, "serviceAccountName"), "payments", "payment", "cluster-admin"),
    ("Deployment", (*POD, "nodeSelector", "disk"), "sdd", "ssd", "a b"),
    ("Deployment", (*POD, "volumes", 0, "secret", "secretName"), "db", "db-credentials", "../x"),
    ("Deployment", (*CONTAINER, "envFrom", 0, "secretRef", "name"), "db", "db-2", "A_B"),
    ("Deployment", (*CONTAINER, *KEY_REF, "name"), "database", "db-credentials", 1),
    ("Deployment", (*CONTAINER, *KEY_REF, "key"), "pasword", "password", "pass word"),
    ("Deployment", (*CONTAINER, "livenessProbe", "httpGet", "scheme"), "HTTP", "HTTPS", "FTP"),
    ("PersistentVolumeClaim", ("spec", "storageClassName"), "gp9", "gp2", "GP 2"),
    ("PersistentVolumeClaim", ("spec", *STORAGE), "1Gi", "4Gi", "5Gi"),
    ("PersistentVolumeClaim", ("spec", *STORAGE), "1Gi", "2Gi", "512Mi"),
    ("PodDisruptionBudget", ("spec", "minAvailable"), 3, 2, 1),
    ("PodDisruptionBudget", ("spec", "minAvailable"), 2, 1, 0),
    ("PodDisruptionBudget", ("spec", "maxUnavailable"), 0, 1, 2),
    ("Service", ("spec", "ports", 0, "protocol"), "UDP", "TCP", "ANY"),
    ("Rollout", (*CONTAINER, "resources", "limits", "memory"), "192Mi", "768Mi", "769Mi"),
    ("Rollout", (*CONTAINER, "image"), "a/b:1", "a/b:2", "a/c:1"),
    ("Rollout", ("spec", "replicas"), 2, 4, 5),
    ("Rollout", ("spec", "paused"), True, False, True),
    ("CronJob", ("spec", "suspend"), True, False, True),
    ("StatefulSet", ("spec", "replicas"), 3, 6, True),
    ("HorizontalPodAutoscaler", ("spec", "maxReplicas"), 5, 10, 11),
    ("HorizontalPodAutoscaler", ("spec", "maxReplicas"), 2, 5, 6),
    ("Deployment", (*POD, "dnsPolicy"), "None", "ClusterFirst", "Default"),
    ("Deployment", (*POD, "dnsPolicy"), "Default", "ClusterFirst", "ClusterFirstWithHostNet"),
    ("PersistentVolumeClaim", ("spec", "accessModes", 0), "ReadWriteMany", "ReadWriteOnce", "x"),
    ("PersistentVolumeClaim", ("spec", "selector", "matchLabels", "a"), "b", "c", "d e"),
    ("Deployment", (*CONTAINER, "image"), "r.io:5000/a/b:1", "r.io:5000/a/b:2", "evil.io/a/b:2"),
    ("Deployment", (*CONTAINER, "image"), "a/b:1", f"a/b@sha256:{'0' * 64}", "a/b@sha256:0"),
    ("Deployment", (*CONTAINER, "image"), "a/b:1", "a/b:2", "a/b"),
    ("Deployment", (*CONTAINER, "image"), "a/b:1", "a/b:2", "a/c:1"),
    ("Deployment", (*CONTAINER, "image"), "a/b:1", "a/b:2", "a/b:$(x)"),
    ("Deployment", (*CONTAINER, "livenessProbe", "httpGet", "port"), 80, 8080, 65536),
    ("Deployment", (*CONTAINER, "readinessProbe", "tcpSocket", "port"), 80, "http", "HTTP!"),
    ("Deployment", (*CONTAINER, "livenessProbe", "httpGet", "path"), "/", "/healthz", "http://x/"),
    ("Deployment", (*CONTAINER, "livenessProbe", "initialDelaySeconds"), 5, 60, -1),
    ("Deployment", (*CONTAINER, "env", "[name=A]", "value"), "5", "6", 6),
    ("Deployment", (*CONTAINER, "env", "[name=A]", "value"), "5", "6", "a\nb"),
    ("Service", ("spec", "selector", "app"), "a", "payments-api", "a b"),
    ("Service", ("spec", "ports", 0, "targetPort"), 80, 8080, 0),
    ("ConfigMap", ("data", "log.level"), "debug", "info", None),
    ("CronJob", ("spec", "jobTemplate", *CONTAINER, "image"), "a:1", "a:2", "b:2"),
    ("Pod", ("spec", "initContainers", 0, "image"), "a:1", "a:2", "b:2"),
]


@pytest.mark.parametrize(("kind", "path", "old", "good", "bad"), FIELDS)
def test_a_field_may_move_within_its_bound_and_no_further(kind, path, old, good, bad):
    assert broken(change(edit(path, old, good, kind))) == set()
    assert broken(change(edit(path, old, bad, kind))) == {Rule.BOUND}


@pytest.mark.parametrize(
    ("path", "old", "good", "bad"),
    [
        (("images", "[name=a]", "newTag"), "1", "2", "2@x"),
        (("images", "[name=a]", "digest"), "x", f"sha256:{'a' * 64}", "sha256:a"),
        (("replicas", "[name=a]", "count"), 2, 3, 0),
    ],
)
def test_a_kustomization_may_change_tags_and_counts(path, old, good, bad):
    file = "apps/prod/kustomization.yaml"
    assert broken(change(edit(path, old, good, "Kustomization", file))) == set()
    assert broken(change(edit(path, old, bad, "Kustomization", file))) == {Rule.BOUND}


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Deployment", ("metadata", "name")),
        ("Deployment", ("spec", "template", "spec", "hostNetwork")),
        ("Deployment", (*CONTAINER, "securityContext", "privileged")),
        ("Deployment", (*CONTAINER, "envFrom", 0, "secretRef")),
        ("Deployment", (*CONTAINER, "resources", "limits", "memory", "x")),
        ("Deployment", ()),
        ("Service", ("spec", "type")),
        ("Service", ("spec", "externalIPs", 0)),
        ("Widget", ("spec", "replicas")),
        ("", ("spec", "replicas")),
    ],
)
def test_any_field_that_is_not_listed_may_not_change(kind, path):
    assert broken(change(edit(path, 1, 2, kind))) == {Rule.FIELD}


@pytest.mark.parametrize(
    "path", [("resources", 0), ("images", "[name=a]", "newName"), ("namespace",)]
)
def test_a_kustomization_may_not_take_in_other_things(path):
    file = "apps/prod/kustomization.yaml"
    assert broken(change(edit(path, "a", "b", "Kustomization", file))) == {Rule.FIELD}


def test_a_change_touches_few_files():
    edits = [edit(file=f"apps/{n}.yaml") for n in range(4)]
    assert broken(change(*edits[:3])) == set()
    assert broken(change(*edits)) == {Rule.FILES}


def test_a_change_touches_few_lines():
    def lines(count: int) -> Change:
        return change(edit(), before={FILE: b"a\n" * count}, after={FILE: b"b\n" * count})

    assert broken(lines(20)) == set()
    assert broken(lines(21)) == {Rule.LINES}


def test_a_proposal_may_be_long_but_no_file_may_be_huge():
    long = change(created(), after={"remediations/api.md": b"line\n" * 100})
    assert broken(long) == set()
    huge = b"x" * (256 * 1024 + 1)
    assert broken(change(created(), after={"remediations/api.md": huge})) == {Rule.SIZE}
    assert broken(change(edit(), before={FILE: huge}, after={FILE: huge})) == {Rule.SIZE}


def test_what_changes_is_exactly_what_the_edits_name():
    assert broken(change()) == {Rule.OPERATION}
    sneaky = change(edit(), after={FILE: b"a: 2\n", "apps/other.yaml": b"x"})
    assert Rule.OPERATION in broken(sneaky)


def test_creating_what_is_there_or_changing_what_is_not_is_refused():
    there = {"remediations/api.md": b"old"}
    assert broken(change(created(), before=there)) == {Rule.OPERATION}
    assert Rule.OPERATION in broken(change(edit(), before={}))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("128Mi", 128 * 2**20),
        ("1Gi", 2**30),
        ("1.5Gi", 3 * 2**29),
        ("1G", 10**9),
        ("500m", Decimal("0.5")),
        ("0.1", Decimal("0.1")),
        (".5", Decimal("0.5")),
        ("5.", 5),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1E", 10**18),
        ("2k", 2000),
        ("7n", Decimal("7e-9")),
        ("-1", -1),
        (2, 2),
        (0.5, Decimal("0.5")),
    ],
)
def test_quantities_are_exact(text, value):
    assert quantity.parse(text) == value


@pytest.mark.parametrize(
    "text", ["", "Mi", "128Mx", "1 Gi", "1KI", "1ki", "1e", "1ee", "٣", "1e999", True, None, "nan"]
)
def test_what_is_no_quantity_is_said(text):
    with pytest.raises(quantity.NotAQuantity):
        quantity.parse(text)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 10**6), st.sampled_from(["", "m", "k", "Ki", "M", "Mi", "G", "Gi", "Ti"]))
def test_four_times_is_the_most_whatever_the_unit(amount, unit):
    path = (*CONTAINER, "resources", "limits", "memory")
    assert broken(change(edit(path, f"{amount}{unit}", f"{amount * 4}{unit}"))) == set()
    assert broken(change(edit(path, f"{amount}{unit}", f"{amount * 4 + 1}{unit}"))) == {Rule.BOUND}


@pytest.mark.parametrize(
    "text", ["a", "a:1", "r.io/a/b:1", "r.io:5000/a", "r.io:5000/a:1", f"a:1@sha256:{'0' * 64}"]
)
def test_an_image_reference_is_put_together_as_it_was(text):
    assert str(images.parse(text)) == text
