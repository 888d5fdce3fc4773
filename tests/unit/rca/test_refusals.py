import pytest

from tocsin_rca.analyzers.admission import Admission
from tocsin_rca.analyzers.limit_range import LimitRange
from tocsin_rca.analyzers.quota import Quota
from tocsin_rca.analyzers.rbac import Rbac
from tocsin_rca.analyzers.service_account import ServiceAccount

ALL = (Quota, LimitRange, Rbac, ServiceAccount, Admission)
POD = 'pods "web-7c9d" is forbidden'
CONTAINER = ("spec", "template", "spec", "containers", "[name=app]")


async def found(scene):
    case = await scene.case()
    return [finding for make in ALL for finding in make().analyze(case)]


async def only(scene):
    (finding,) = await found(scene)
    return finding


def refused(scene, message, *, resources=None, **spec):
    scene.container["resources"] = resources or {}
    labels = {"metadata": {"labels": scene.labels}}
    template = labels | {"spec": {"containers": [scene.container], **spec}}
    scene.add("Deployment", "web", {"replicas": 4, "template": template})
    scene.event("FailedCreate", f"Error creating: {message}", pod="web-7c9d", kind="ReplicaSet")


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (
            f"{POD}: exceeded quota: compute, requested: pods=1, used: pods=4, limited: pods=4",
            "namespace_quota_exceeded",
        ),
        (
            f"{POD}: exceeded quota: mem, requested: limits.memory=1Gi,requests.memory=1Gi, used:"
            " limits.memory=3Gi,requests.memory=3Gi, limited: limits.memory=3Gi,"
            "requests.memory=3Gi",
            "namespace_quota_exceeded",
        ),
        (
            f"{POD}: failed quota: compute: must specify limits.cpu for: app; limits.memory"
            " for: app",
            "quota_requires_field",
        ),
        (
            f"{POD}: failed quota: compute: must specify limits.cpu,limits.memory",
            "quota_requires_field",
        ),
        (
            f"{POD}: minimum cpu usage per Container is 100m, but request is 50m",
            "limit_range_violation",
        ),
        (
            f"{POD}: [maximum cpu usage per Container is 2, but limit is 4, maximum cpu usage per"
            " Pod is 4, but limit is 5]",
            "limit_range_violation",
        ),
        (
            f"{POD}: maximum memory usage per Container is 1Gi. No limit is specified",
            "limit_range_violation",
        ),
        (
            f"{POD}: cpu max limit to request ratio per Container is 2, but provided ratio is"
            " 4.000000",
            "limit_range_violation",
        ),
        (
            f'{POD}: error looking up service account shop/web: serviceaccount "web" not found',
            "service_account_not_found",
        ),
        (
            f'{POD}: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false'
            ' (container "app" must set securityContext.allowPrivilegeEscalation=false)',
            "pod_security_violation",
        ),
        (
            f"{POD}: unable to validate against any security context constraint: [provider"
            ' "anyuid": Forbidden: not usable by user or serviceaccount]',
            "pod_security_violation",
        ),
        (
            'admission webhook "validation.gatekeeper.sh" denied the request: [must-have-owner] you'
            ' must provide labels: {"owner"}',
            "admission_denied",
        ),
        (
            "ValidatingAdmissionPolicy 'no-latest' with binding 'no-latest-all' denied request: tag"
            " latest is not allowed",
            "admission_denied",
        ),
        (
            'Internal error occurred: failed calling webhook "sidecar.mesh.example": failed to call'
            ' webhook: Post "https://mesh.mesh.svc:443/inject?timeout=10s": dial tcp 10.2.3.4:443:'
            " connect: connection refused",
            "admission_denied",
        ),
    ],
)
async def test_the_refusal_of_the_api_server_decides(scene, message, cause):
    refused(scene, message)
    finding = await only(scene)
    assert finding.cause.value == cause
    assert finding.confidence >= 0.85


@pytest.mark.parametrize(
    "message",
    [
        'would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
        "quota compute is 80% used",
        f"{POD}: no PriorityClass with name urgent was found",
    ],
)
async def test_what_refuses_nothing_is_no_refusal(scene, message):
    refused(scene, message)
    assert await found(scene) == []


GAIN = 'allowPrivilegeEscalation != false (container "{}" must set {}=false)'
FIELD = "securityContext.allowPrivilegeEscalation"


@pytest.mark.parametrize(
    ("says", "changes"),
    [
        (GAIN.format("app", FIELD), True),
        (GAIN.format("sidecar", FIELD), False),
        (f"{GAIN.format('app', FIELD)}, runAsNonRoot != true (pod or container)", False),
        ("host namespaces (hostNetwork=true)", False),
    ],
)
async def test_a_container_gives_up_only_what_the_level_asks_for_alone(scene, says, changes):
    refused(scene, f'{POD}: violates PodSecurity "restricted:latest": {says}')
    finding = await only(scene)
    assert finding.cause.value == "pod_security_violation"
    assert (finding.change is not None) is changes
    if finding.change:
        assert finding.change.path[-2:] == ("securityContext", "allowPrivilegeEscalation")
        assert (finding.change.before, finding.change.after) == (None, False)


async def test_the_finding_names_the_resource_that_is_used_up(scene):
    refused(
        scene, f"{POD}: exceeded quota: compute, requested: pods=1, used: pods=4, limited: pods=4"
    )
    finding = await only(scene)
    assert finding.object.kind == "ResourceQuota"
    assert "pods" in finding.summary
    assert finding.change is None


async def test_replicas_that_a_commit_raised_over_the_quota_go_back(scene):
    refused(
        scene, f"{POD}: exceeded quota: compute, requested: pods=1, used: pods=3, limited: pods=3"
    )
    scene.commit(("spec", "replicas"), 2, 4)
    change = (await only(scene)).change
    assert (change.object.kind, change.old, change.new) == ("Deployment", 4, 2)


async def test_a_quota_that_the_alert_names_is_looked_at(scene):
    scene.deployment()
    status = {"hard": {"pods": "10", "requests.cpu": "4"}, "used": {"pods": "10"}}
    scene.add("ResourceQuota", "compute", status=status)
    alert = scene.alert().model_copy(update={"title": "KubeQuotaFullyUsed"})
    (finding,) = Quota().analyze(await scene.case(alert))
    assert "pods" in finding.summary


@pytest.mark.parametrize(
    ("resources", "message", "field", "new"),
    [
        (
            {"limits": {"memory": "1Gi"}, "requests": {"memory": "128Mi"}},
            "maximum memory usage per Container is 512Mi, but limit is 1Gi",
            ("limits", "memory"),
            "512Mi",
        ),
        (
            {"limits": {"memory": "1Gi"}, "requests": {"memory": "768Mi"}},
            "maximum memory usage per Container is 512Mi, but limit is 1Gi",
            None,
            None,
        ),
        (
            {"requests": {"cpu": "50m"}},
            "minimum cpu usage per Container is 100m, but request is 50m",
            ("requests", "cpu"),
            "100m",
        ),
        (
            {"requests": {"cpu": "50m"}, "limits": {"cpu": "80m"}},
            "minimum cpu usage per Container is 100m, but request is 50m",
            None,
            None,
        ),
        (
            {"limits": {"cpu": "4"}},
            "[maximum cpu usage per Container is 2, but limit is 4,"
            " maximum memory usage per Pod is 4Gi, but limit is 5Gi]",
            None,
            None,
        ),
    ],
)
async def test_a_bound_is_met_only_if_that_is_all_that_is_wrong(
    scene, resources, message, field, new
):
    refused(scene, f"{POD}: {message}", resources=resources)
    change = (await only(scene)).change
    assert (change.path[-2:], change.new) == (field, new) if field else change is None


async def test_the_account_that_was_meant_is_named(scene):
    refused(
        scene,
        f'{POD}: error looking up service account shop/web-ap: serviceaccount "web-ap" not found',
        serviceAccountName="web-ap",
    )
    scene.add("ServiceAccount", "web-app")
    scene.add("ServiceAccount", "default")
    change = (await only(scene)).change
    assert (change.path[-1], change.old, change.new) == ("serviceAccountName", "web-ap", "web-app")


async def test_no_account_is_made_up(scene):
    refused(
        scene,
        f'{POD}: error looking up service account shop/web-ap: serviceaccount "web-ap" not found',
        serviceAccountName="web-ap",
    )
    scene.add("ServiceAccount", "default")
    assert (await only(scene)).change is None


@pytest.mark.parametrize(
    "line",
    [
        'Error from server (Forbidden): pods is forbidden: User "system:serviceaccount:shop:web"'
        ' cannot list resource "pods" in API group "" in the namespace "shop"',
        '{"level":"error","error":"deployments.apps \\"x\\" is forbidden: User'
        ' \\"system:serviceaccount:shop:web\\" cannot patch resource \\"deployments\\" in API group'
        ' \\"apps\\" in the namespace \\"shop\\""}',
        'E0302 reflector.go:150] nodes is forbidden: User "system:serviceaccount:shop:web" cannot'
        ' watch resource "nodes" in API group "" at the cluster scope',
        'forbidden: User "system:serviceaccount:shop:web" cannot get path "/metrics"',
    ],
)
async def test_a_denial_is_heard_however_it_is_logged(scene, line):
    refused(scene, "nothing", serviceAccountName="web")
    scene.pod(ready=False, restartCount=1, state={"running": {}})
    scene.log(line, previous=False)
    finding = await only(scene)
    assert finding.cause.value == "rbac_denied"
    assert finding.confidence >= 0.9
    assert finding.change is None


async def test_the_role_that_gives_the_rights_is_named(scene):
    refused(scene, "nothing", serviceAccountName="web")
    scene.pod(ready=False, restartCount=1, state={"running": {}})
    scene.log(
        'User "system:serviceaccount:shop:web" cannot list resource "pods" in API group ""',
        previous=False,
    )
    scene.add("RoleBinding", "web")
    role = {"kind": "Role", "name": "reader"}
    subject = {"kind": "ServiceAccount", "name": "web", "namespace": "shop"}
    scene.objects[-1] |= {"roleRef": role, "subjects": [subject]}
    scene.add("Role", "reader")
    assert (await only(scene)).object.name == "reader"


async def test_what_another_account_may_not_do_explains_less(scene):
    refused(scene, "nothing", serviceAccountName="web")
    scene.pod(ready=False, restartCount=1, state={"running": {}})
    scene.log(
        'User "system:serviceaccount:other:agent" cannot list resource "pods" in API group ""',
        previous=False,
    )
    assert (await only(scene)).confidence < 0.8


@pytest.mark.parametrize(
    ("used", "status", "says"), [("10", "True", True), ("9", "True", False), ("10", "False", False)]
)
async def test_a_full_quota_explains_pods_that_cannot_be_created(scene, used, status, says):
    condition = {"type": "ReplicaFailure", "status": status, "reason": "FailedCreate"}
    scene.add("Deployment", "web", {"replicas": 3}, {"conditions": [condition]})
    scene.add("ResourceQuota", "q", status={"hard": {"pods": "10"}, "used": {"pods": used}})
    assert bool(await found(scene)) is says


async def test_what_nobody_knows_is_called_as_the_alert_calls_it(scene):
    (scene.folder / "index.yaml").write_text("namespace: shop")
    said = 'Error: pods "web-" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3'
    (scene.folder / "kubectl get events.txt").write_text(f"Warning  FailedCreate  {said}, limited")
    (finding,) = Quota().analyze(await scene.case())
    assert finding.cause.value == "namespace_quota_exceeded"
