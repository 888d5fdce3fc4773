import pytest

from tocsin_contracts import AlertStatus, CauseClass, FieldChange, Finding, Hypothesis, ObjectRef
from tocsin_rca.analyzers.certificate import Certificate
from tocsin_rca.analyzers.claim_binding import ClaimBinding
from tocsin_rca.analyzers.connection_pool import ConnectionPool
from tocsin_rca.analyzers.gitops_sync import GitopsSync
from tocsin_rca.analyzers.init_container import InitContainer
from tocsin_rca.analyzers.no_incident import NoIncident
from tocsin_rca.analyzers.probe_port import ProbePort
from tocsin_rca.analyzers.scaled_to_zero import ScaledToZero
from tocsin_rca.analyzers.service_account import ServiceAccount
from tocsin_rca.evidence import conclude
from tocsin_rca.evidence.ranking import OF_PROGRAMS, ranked

WEB = ObjectRef(kind="Deployment", namespace="shop", name="web")
INIT = CauseClass.INIT_CONTAINER_FAILURE
COMMAND = ("spec", "template", "spec", "initContainers", "[name=setup]", "command", 0)


def finding(cause, confidence, path=()):
    change = FieldChange(object=WEB, path=path, old="a", new="b") if path else None
    return Finding(
        cause=cause,
        object=WEB,
        confidence=confidence,
        summary=f"It is {cause.value}.",
        evidence=("e1",),
        change=change,
    )


def titled(made, title, **changed):
    return made.model_copy(update={"title": title, **changed})


@pytest.mark.parametrize("cause", sorted(OF_PROGRAMS))
async def test_a_program_that_fails_in_an_init_container_is_what_that_dies_of(scene, cause):
    case, init = await scene.case(), finding(INIT, 0.93)
    assert ranked(case, [finding(cause, 0.95), init])[0] == init
    unsure = finding(INIT, 0.66)
    assert ranked(case, [finding(cause, 0.95), unsure])[0] != unsure


async def test_a_policy_that_keeps_an_init_container_waiting_leads_over_it(scene):
    policy = finding(CauseClass.NETWORK_POLICY_BLOCKS, 0.95)
    assert ranked(await scene.case(), [finding(INIT, 0.93), policy])[0] == policy


@pytest.mark.parametrize(("path", "acts"), [(COMMAND, True), (("spec", "replicas"), False)])
async def test_an_init_container_is_put_right_by_what_puts_its_cause_right(scene, path, acts):
    own = finding(CauseClass.COMMAND_NOT_FOUND, 0.97, path)
    told = conclude(await scene.case(), [own, finding(INIT, 0.93)], 1, frozenset())
    assert isinstance(told, Hypothesis) is acts
    if acts:
        assert (told.finding.cause, told.finding.change) == (INIT, own.change)


@pytest.mark.parametrize(
    ("log", "proven"),
    [("waiting for orders-db", True), ("still waiting ...", True), ("copying files", False)],
)
async def test_an_init_container_that_says_it_waits_has_come_to_no_end(scene, log, proven):
    scene.deployment()
    scene.pod(phase="Pending", ready=False, restartCount=0, state={"waiting": {"reason": "X"}})
    status = scene.objects[-1]["status"]
    status["initContainerStatuses"] = [{"name": "app", "state": {"running": {}}, "ready": False}]
    status["containerStatuses"][0]["state"] = {"running": {}}
    scene.log(log, previous=False)
    (found,) = InitContainer().analyze(await scene.case())
    assert (found.confidence >= 0.9) is proven


async def test_an_init_container_that_the_kernel_killed_is_short_of_memory(scene):
    scene.pod(phase="Pending", ready=False, restartCount=0, state={"waiting": {}})
    ending = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    scene.objects[-1]["status"]["initContainerStatuses"] = [{"name": "setup", "lastState": ending}]
    assert InitContainer().analyze(await scene.case()) == ()


async def test_an_account_that_was_made_since_is_not_missing(scene):
    scene.deployment()
    scene.pod(ready=True, restartCount=0, state={"running": {}})
    scene.event("FailedCreate", 'serviceaccount "runner" not found', pod="web", kind="Deployment")
    assert len(ServiceAccount().analyze(await scene.case())) == 1
    scene.add("ServiceAccount", "runner")
    assert ServiceAccount().analyze(await scene.case()) == ()


@pytest.mark.parametrize(
    ("title", "leads"),
    [("KubePodCrashLooping", "liveness"), ("KubeDeploymentRolloutStuck", "readiness")],
)
async def test_of_two_probes_that_ask_in_vain_the_alert_tells_which_is_missed(scene, title, leads):
    asks = {"httpGet": {"path": "/", "port": 8081}}
    scene.container |= {"ports": [{"containerPort": 80}], "livenessProbe": asks}
    scene.container |= {"readinessProbe": asks}
    scene.deployment()
    scene.pod(ready=False, restartCount=3, state={"running": {}})
    refused = 'probe failed: Get "http://10.1.2.3:8081/": dial tcp 10.1.2.3:8081: connect:'
    scene.event("Unhealthy", f"Liveness {refused} connection refused")
    scene.event("Unhealthy", f"Readiness {refused} connection refused")
    case = await scene.case(titled(scene.alert(), title))
    assert ranked(case, ProbePort().analyze(case))[0].cause.value.startswith(leads)


async def test_a_probe_that_asks_a_full_data_store_tells_of_the_store(scene):
    scene.deployment()
    scene.pod(ready=False, restartCount=3, state={"running": {}})
    scene.event("Unhealthy", "Liveness probe failed: psql: FATAL:  sorry, too many clients already")
    (found,) = ConnectionPool().analyze(await scene.case())
    assert found.cause is CauseClass.CONNECTION_POOL_EXHAUSTED


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Deployment/a/b dry-run failed, reason: Invalid: spec.x: Invalid value", 1),
        ("web  9d  False  kustomization path not found: stat /tmp/k/clusters: no such file", 1),
        ("web  9d  True  Applied revision: main@sha1:4f2c1aa", 0),
    ],
)
async def test_flux_says_in_tables_what_it_could_not_apply(scene, text, count):
    (scene.folder / "kubectl get kustomizations -A.txt").write_text(f"{text}\n")
    assert len(GitopsSync().analyze(await scene.case())) == count


@pytest.mark.parametrize(("size", "cause"), [("5Gi", "capacity"), ("20Gi", "class")])
async def test_volumes_made_by_hand_need_no_object_for_their_class(scene, size, cause):
    wants = {"accessModes": ["ReadWriteOnce"], "storageClassName": "manual"}
    scene.add(
        "PersistentVolumeClaim", "data", wants | {"resources": {"requests": {"storage": "10Gi"}}}
    )
    scene.add(
        "PersistentVolume", "pv", wants | {"capacity": {"storage": size}}, {"phase": "Available"}
    )
    del scene.objects[-1]["metadata"]["namespace"]
    missing = 'storageclass.storage.k8s.io "manual" not found'
    scene.event("ProvisioningFailed", missing, pod="data", kind="PersistentVolumeClaim")
    (found,) = ClaimBinding().analyze(await scene.case())
    assert cause in found.cause.value


@pytest.mark.parametrize(
    ("subject", "woken"),
    [("save some cost", True), ("park the preview", False), ("Decommission web", False)],
)
async def test_what_somebody_put_to_sleep_on_purpose_is_not_woken_up(scene, subject, woken):
    scene.deployment()
    scene.objects[0]["spec"]["replicas"] = 0
    scene.commit(("spec", "replicas"), 3, 0)
    scene.commits[-1]["subject"] = subject
    (found,) = ScaledToZero().analyze(await scene.case())
    assert (found.change is not None) is woken


async def test_a_certificate_that_has_not_expired_is_none_that_has(scene):
    condition = {"type": "Ready", "status": "True", "reason": "Ready"}
    condition["message"] = "Certificate is up to date and has not expired"
    scene.add("Certificate", "web", status={"conditions": [condition]})
    scene.deployment()
    assert Certificate().analyze(await scene.case()) == ()


@pytest.mark.parametrize(("now", "count"), [(4, 1), (10, 0)])
async def test_an_autoscaler_that_has_room_again_is_no_incident(scene, now, count):
    spec = {"maxReplicas": 10, "scaleTargetRef": {"kind": "Deployment", "name": "gone"}}
    scene.add("HorizontalPodAutoscaler", "web", spec, {"currentReplicas": now})
    made = scene.alert(namespace="shop", horizontalpodautoscaler="web")
    told = {"workload": None, "status": AlertStatus.RESOLVED}
    case = await scene.case(titled(made, "KubeHpaMaxedOut: pods pending", **told))
    assert len(NoIncident().analyze(case)) == count


@pytest.mark.parametrize(("last", "count"), [("Started", 1), ("Pulling", 0)])
async def test_a_pod_whose_last_news_is_its_start_runs(scene, last, count):
    scene.event("FailedAttachVolume", "Multi-Attach error for volume", at="2026-03-02T09:00:00Z")
    scene.event(last, "container app", at="2026-03-02T09:10:00Z")
    made = titled(scene.alert(pod="web-1-a"), "KubePodNotReady", status=AlertStatus.RESOLVED)
    assert len(NoIncident().analyze(await scene.case(made))) == count
