import pytest

from tocsin_rca import analyzers
from tocsin_rca.analyzers import analyze
from tocsin_rca.evidence.ranking import ranked

DENIED = """E0211 10:00:01 reflector.go:147] failed to list *v1.ConfigMap:
  configmaps is forbidden: User "system:serviceaccount:shop:web"
  cannot list resource "configmaps" in API group "" in the namespace "shop"
"""


async def leading(scene, command, text):
    (scene.folder / "index.yaml").write_text(f"namespace: shop\nfiles: {{'a.txt': '{command}'}}")
    (scene.folder / "a.txt").write_text(text)
    case = await scene.case()
    found = ranked(case, analyze(case, analyzers.load()))
    return found[0] if found else None


@pytest.mark.parametrize(
    ("command", "text", "cause"),
    [
        ("kubectl get pods / logs web-1 / auth can-i", DENIED, "rbac_denied"),
        (
            "kubectl get events",
            'Failed to provision volume: secrets is forbidden: User "system:serviceaccount:'
            'kube-sys\ntem:binder" cannot create secrets in the namespace "shop"',
            "rbac_denied",
        ),
        (
            "kubectl apply -f web.yaml",
            'Error from server (Forbidden): error when creating "web.yaml": admission webhook\n'
            '    "policies.example" denied the request: [owner] you must provide labels:\n'
            '    {"owner"}',
            "admission_denied",
        ),
        (
            "kubectl apply -f -",
            "Internal error occurred:\n  failed calling webhook\n  "
            '"defaults.example": failed to call webhook: service "defaults" not found',
            "admission_denied",
        ),
        (
            "kubectl describe pod web-1",
            'Failed to pull image "web:2":\nrpc error: code = Unknown desc = toomanyrequests:\n'
            "You have reached your pull rate limit.\nReason: ImagePullBackOff",
            "image_pull_error",
        ),
        (
            "kubectl describe ds web",
            "Events:\n  Warning  FailedScheduling  pod web-x had untolerated taint\n"
            "                             {dedicated: db}",
            "taint_not_tolerated",
        ),
        (
            "kubectl get workload -o yaml",
            "status:\n  conditions:\n  - message: Preempted to accommodate a higher priority"
            " Workload\n    reason: Preempted",
            "preempted",
        ),
        (
            "kubectl get pvc; kubectl describe pvc",
            "Events:\n  Warning  ProvisioningFailed  ...  no storage class is set / class"
            ' "quick" not found',
            "pvc_storage_class_not_found",
        ),
        (
            "kubectl get pods; kubectl logs web-1 --previous",
            "NAME   READY  STATUS  RESTARTS\nweb-1  0/1  CrashLoopBackOff  4\n\n"
            "panic: open /run/web.lock: read-only file system",
            "volume_permission_denied",
        ),
        (
            "kubectl logs coredns-1 | tail",
            '[FATAL] plugin/loop: Loop (127.0.0.1:4000 -> :53) detected for zone "."',
            "dns_misconfigured",
        ),
        (
            "journalctl -u kubelet",
            "kubelet: skipping pod synchronization - PLEG is not healthy: pleg was last seen"
            " active 5m ago; threshold is 3m0s",
            "container_runtime_down",
        ),
        (
            "kubectl describe pod",
            'Error: InvalidImageName\nFailed to apply default image tag "Web:2": couldn\'t parse'
            ' image name "Web:2": invalid reference format',
            "image_name_wrong",
        ),
        (
            "kubectl describe pod",
            "0/5 nodes are available: 5 node(s) didn't match pod topology spread\nconstraints.",
            "topology_spread_unsatisfiable",
        ),
        (
            "kubectl describe pvc",
            'Cannot bind to requested volume "pv-a": incompatible accessMode',
            "pvc_access_mode_mismatch",
        ),
        (
            "kubectl get pods",
            "Unable to connect to the server: x509: certificate has expired or is not yet valid:"
            " current time 2026-03-02T09:20:00Z is after 2026-03-01T00:00:00Z",
            "certificate_expired",
        ),
        (
            "kubectl describe pod",
            "Error: failed to create containerd task: OCI runtime create failed: exec:"
            ' "/app/run.sh": stat /app/run.sh: no such file\nor directory: unknown',
            "command_not_found",
        ),
        (
            "kubectl logs coredns-1",
            "/etc/coredns/Corefile:7 - Error during parsing: Unknown directive 'cachee'",
            "dns_misconfigured",
        ),
        (
            "kubectl describe pod",
            "Error response from daemon: manifest for shop/web:9 not found: manifest unknown",
            "image_tag_not_found",
        ),
        (
            "kubectl get pvc; kubectl get sc",
            "NAME  STATUS   VOLUME  CAPACITY  ACCESS MODES  STORAGECLASS  AGE\n"
            "data  Pending                                  swift         3m\n\n"
            "NAME  PROVISIONER      RECLAIMPOLICY  VOLUMEBINDINGMODE\n"
            "slow  ebs.csi.aws.com  Delete         Immediate",
            "pvc_storage_class_not_found",
        ),
        (
            "kubectl describe ingress web",
            "Name:       web\nNamespace:  shop\nRules:\n  Host  Path  Backends\n"
            '  a.b   /     wbe:80 (<error: services "wbe" not found>)',
            "ingress_misroute",
        ),
        (
            "flux get kustomizations",
            "NAME  READY  MESSAGE\nweb  False  kustomize build failed: accumulating resources:"
            " open /tmp/x/db.yaml: no such file or directory",
            "gitops_sync_failed",
        ),
        (
            "kubectl exec probe-1 -- nc -vz db 5432",
            "nc: connect to db port 5432 (tcp) failed: Connection refused",
            "dependency_unreachable",
        ),
        (
            "kubectl describe svc web; kubectl get pods --show-labels",
            "Name:       web\nNamespace:  shop\nSelector:   app=shop-web\nType:       ClusterIP\n"
            "Port:       http  80/TCP\nTargetPort: 8080/TCP\nEndpoints:  <none>\n\n"
            "NAME    READY   STATUS    RESTARTS   AGE   LABELS\n"
            "web-a   1/1     Running   0          4m    app=web,tier=front",
            "service_selector_mismatch",
        ),
    ],
)
async def test_a_pasted_message_is_understood_however_it_was_wrapped(scene, command, text, cause):
    scene.deployment()
    finding = await leading(scene, command, text)
    assert finding.cause.value == cause


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("kubectl apply -f web.yaml", "deployment.apps/web configured"),
        ("kubectl describe pod web-1", 'Successfully pulled image "web:2" in 2s'),
        ("kubectl get workload -o yaml", "status:\n  conditions:\n  - reason: Admitted"),
        ("kubectl logs coredns-1", "[INFO] plugin/reload: Running configuration"),
        ("kubectl get pvc", "NAME  STATUS  VOLUME\na  Bound  pv-1"),
        ("kubectl exec web-1 -- nc -vz db 5432", "Connection to db 5432 port [tcp/*] succeeded!"),
        ("kubectl get pods", "No resources found in shop namespace."),
    ],
)
async def test_what_went_well_is_no_message_of_trouble(scene, command, text):
    scene.deployment()
    assert await leading(scene, command, text) is None


async def refused_by_an_engine(scene, words):
    text = (
        'admission webhook "validate.example" denied the request:\n\nresource Deployment/shop/web'
        f" was blocked due to the following policies\n\nrule:\n  {words}"
    )
    return await leading(scene, "kubectl apply -f web.yaml", text)


async def test_the_commit_that_brought_what_a_policy_refuses_is_undone(scene):
    scene.deployment()
    path = ("spec", "template", "spec", "containers", "[name=app]", "image")
    scene.commit(path, "web:1.4", "web:latest")
    finding = await refused_by_an_engine(scene, "an image needs another tag than latest")
    assert (finding.change.old, finding.change.new) == ("web:latest", "web:1.4")


@pytest.mark.parametrize(
    "words", ["label owner is required", "imagePullPolicy must be Always", "images: none"]
)
async def test_a_commit_that_changed_something_else_is_not_undone(scene, words):
    scene.deployment()
    path = ("spec", "template", "spec", "containers", "[name=app]", "image")
    scene.commit(path, "web:1.4", "web:latest")
    assert (await refused_by_an_engine(scene, words)).change is None


@pytest.mark.parametrize(
    ("before", "cause"),
    [
        ("reg.example/shop/storefront:1", "image_name_wrong"),
        ("reg.example/shop/storefrnt:0.9", "image_tag_not_found"),
        ("reg.example/other/api:1", "image_tag_not_found"),
    ],
)
async def test_a_name_that_a_commit_misspelt_is_no_missing_tag(scene, before, cause):
    scene.container["image"] = image = "reg.example/shop/storefrnt:1"
    scene.deployment()
    path = ("spec", "template", "spec", "containers", "[name=app]", "image")
    scene.commit(path, before, image)
    scene.event("Failed", f'Failed to pull image "{image}": {image}: not found')
    case = await scene.case()
    found = ranked(case, analyze(case, analyzers.load()))
    assert found[0].cause.value == cause
