import pytest

from tocsin_contracts import CauseClass
from tocsin_rca.analyzers.claim_binding import ClaimBinding
from tocsin_rca.analyzers.volume_attach import VolumeAttach
from tocsin_rca.analyzers.volume_full import VolumeFull

MODE, SIZE = CauseClass.PVC_ACCESS_MODE_MISMATCH, CauseClass.PVC_CAPACITY_MISMATCH
CLASS, TAKEN = CauseClass.PVC_STORAGE_CLASS_NOT_FOUND, CauseClass.PV_ALREADY_BOUND
LABELS = CauseClass.PVC_SELECTOR_MISMATCH
CLAIM = "PersistentVolumeClaim"


def claim(scene, phase="Pending", size="10Gi", mode="ReadWriteOnce", **spec):
    resources = {"requests": {"storage": size}}
    whole = {"accessModes": [mode], "storageClassName": "manual", "resources": resources} | spec
    scene.add(CLAIM, "data", whole, {"phase": phase})


def volume(scene, name="pv-1", phase="Available", labels=None, **spec):
    whole = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "manual",
        "capacity": {"storage": "10Gi"},
    }
    scene.add("PersistentVolume", name, whole | spec, {"phase": phase}, labels=labels or {})
    del scene.objects[-1]["metadata"]["namespace"]


def mounting(scene):
    scene.deployment()
    spec = scene.objects[-1]["spec"]["template"]["spec"]
    source = {"persistentVolumeClaim": {"claimName": "data"}}
    scene.objects[-1]["spec"]["template"]["spec"] = spec | {"volumes": [{"name": "d", **source}]}


@pytest.mark.parametrize(
    ("cause", "reason", "message"),
    [
        (CLASS, "ProvisioningFailed", 'storageclass.storage.k8s.io "fast" not found'),
        (MODE, "ProvisioningFailed", "MULTI_NODE_MULTI_WRITER not supported. Only AccessModes[R"),
        (MODE, "VolumeMismatch", 'Cannot bind to requested volume "pv1": incompatible accessMode'),
        (SIZE, "VolumeMismatch", 'Cannot bind to volume "pv1": requested PV is too small'),
        (TAKEN, "FailedBinding", 'volume "pv1" already bound to a different claim.'),
    ],
)
async def test_what_is_said_of_a_claim_tells_the_cause(scene, cause, reason, message):
    scene.deployment()
    claim(scene, storageClassName="fast")
    scene.event(reason, message, pod="data", kind=CLAIM)
    (finding,) = ClaimBinding().analyze(await scene.case())
    assert finding.cause is cause
    assert (finding.object.kind, finding.object.name) == (CLAIM, "data")


@pytest.mark.parametrize(
    ("cause", "wants", "offers", "new"),
    [
        (MODE, {"mode": "ReadWriteMany"}, {}, "ReadWriteOnce"),
        (SIZE, {"size": "50Gi"}, {}, "10Gi"),
        (CLASS, {"storageClassName": "manul"}, {}, "manual"),
        (
            LABELS,
            {"selector": {"matchLabels": {"disk": "ssd"}}},
            {"labels": {"disk": "hdd"}},
            "hdd",
        ),
    ],
)
async def test_a_claim_that_differs_in_one_thing_from_the_volume_is_told_which(
    scene, cause, wants, offers, new
):
    scene.deployment()
    claim(scene, **wants)
    volume(scene, **offers)
    (finding,) = ClaimBinding().analyze(await scene.case())
    assert finding.cause is cause
    assert finding.change.new == new


async def test_a_volume_that_differs_in_two_things_is_not_the_one_that_was_meant(scene):
    scene.deployment()
    claim(scene, size="50Gi", mode="ReadWriteMany")
    volume(scene)
    assert ClaimBinding().analyze(await scene.case()) == ()


async def test_volumes_of_other_claims_say_nothing(scene):
    scene.deployment()
    claim(scene)
    volume(scene, phase="Bound", claimRef={"name": "other", "namespace": "shop"})
    assert ClaimBinding().analyze(await scene.case()) == ()


async def test_a_volume_that_the_claim_names_and_another_has_is_taken(scene):
    scene.deployment()
    claim(scene, volumeName="pv-1")
    volume(scene, phase="Bound", claimRef={"name": "other", "namespace": "shop"})
    (finding,) = ClaimBinding().analyze(await scene.case())
    assert finding.cause is TAKEN
    assert finding.change is None


async def test_a_bound_claim_is_well(scene):
    scene.deployment()
    claim(scene, phase="Bound", size="50Gi")
    volume(scene)
    assert ClaimBinding().analyze(await scene.case()) == ()


@pytest.mark.parametrize(
    "message",
    [
        'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) web-1-b',
        'Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node'
        " and can't be attached to another",
        "rpc error: code = Internal desc = disk x is already attached to node y: VolumeInUse",
    ],
)
async def test_a_volume_that_another_node_holds_is_told(scene, message):
    scene.deployment()
    scene.event("FailedAttachVolume", message)
    (finding,) = VolumeAttach().analyze(await scene.case())
    assert finding.cause is CauseClass.VOLUME_ATTACH_CONFLICT
    assert finding.confidence >= 0.9


FULL = "could not write to file: No space left on device"
STATUS = {"ready": False, "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}


def full(scene, text=FULL, *, grows=True):
    mounting(scene)
    scene.pod(**STATUS)
    claim(scene, phase="Bound", storageClassName="gp3")
    scene.add("StorageClass", "gp3")
    del scene.objects[-1]["metadata"]["namespace"]
    scene.objects[-1]["allowVolumeExpansion"] = grows
    scene.log(text)


@pytest.mark.parametrize(("grows", "new"), [(True, "24Gi"), (False, None)])
async def test_a_full_volume_grows_if_its_class_lets_it(scene, grows, new):
    full(scene, grows=grows)
    (finding,) = VolumeFull().analyze(await scene.case())
    assert finding.cause is CauseClass.PVC_FULL
    assert finding.object.kind == CLAIM
    assert (finding.change.new if finding.change else None) == new


@pytest.mark.parametrize(
    "text",
    [
        "inotify_add_watch failed: No space left on device: inotify",
        "ENOSPC: System limit for number of file watchers reached, watch '/app'",
        "INFO disk usage 42%",
    ],
)
async def test_a_limit_of_watches_is_no_full_disk(scene, text):
    full(scene, text)
    assert VolumeFull().analyze(await scene.case()) == ()


async def test_a_full_disk_of_a_pod_without_a_claim_is_not_sure(scene):
    scene.deployment()
    scene.pod(**STATUS)
    scene.log(FULL)
    (finding,) = VolumeFull().analyze(await scene.case())
    assert finding.confidence < 0.9


@pytest.mark.parametrize(
    ("phase", "labels", "says"),
    [
        ("Released", {}, True),
        (None, {"phase": "Released"}, True),
        (None, {"phase": "Failed"}, False),
        ("Available", {"phase": "Released"}, False),
        ("Bound", {}, False),
    ],
)
async def test_a_released_volume_still_belongs_to_its_old_claim(scene, phase, labels, says):
    scene.deployment()
    if phase:
        volume(scene, phase=phase)
    told = scene.alert(persistentvolume="pv-1", **labels)
    found = ClaimBinding().analyze(await scene.case(told))
    assert [one.cause.value for one in found] == ["pv_already_bound"] * says
