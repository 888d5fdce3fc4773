"""The fullest picture of objects: what the cluster shows, gaps filled from what files declare."""

from dataclasses import dataclass

from tocsin_cluster.manifest import Container, Manifest, dig, texts
from tocsin_cluster.merging import filled
from tocsin_contracts import ObjectRef
from tocsin_rca.evidence.case import Case

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "Pod", "CronJob", "Job")


@dataclass(frozen=True, slots=True)
class Known:
    """An object, and the evidence that shows it."""

    manifest: Manifest
    ids: tuple[str, ...]

    @property
    def ref(self) -> ObjectRef:
        """Which object this is."""
        return self.manifest.ref


@dataclass(frozen=True, slots=True)
class Runs:
    """What runs pods, with the labels that they carry; a pod of its own runs itself."""

    known: Known
    labels: dict[str, str]

    @property
    def ref(self) -> ObjectRef:
        """What people edit to change the pods."""
        return self.known.ref

    @property
    def containers(self) -> tuple[Container, ...]:
        """The containers that the pods run, without those that only prepare them."""
        every = self.known.manifest.containers()
        return tuple(one for one in every if "initContainers" not in one.path)


def known(case: Case, kind: str) -> tuple[Known, ...]:
    """Return the objects of a kind; a declared field shows where the cluster was seen in part."""
    return case.memo.once(
        ("known", kind),
        lambda: tuple(_fullest(case, seen.data, seen.id) for seen in case.manifests(kind)),
    )


def known_object(case: Case, ref: ObjectRef) -> Known | None:
    """Return one object, or None if neither cluster nor files show it."""
    seen = case.manifest(ref)
    return _fullest(case, seen.data, seen.id) if seen else None


def running(case: Case, namespace: str) -> tuple[Runs, ...]:
    """Return what runs pods in a namespace: workloads, and pods that no known one runs."""
    return case.memo.once(("running", namespace), lambda: _running(case, namespace))


def _running(case: Case, namespace: str) -> tuple[Runs, ...]:
    found: list[Runs] = []
    for kind in WORKLOADS:
        for one in known(case, kind):
            if one.ref.namespace in ("", namespace) and not _is_run(one, found):
                found.append(Runs(one, _labels(case, one)))
    return tuple(found)


def _fullest(case: Case, shown: Manifest, id_: str) -> Known:
    declared = case.declaration(shown.ref)
    if shown.whole or declared is None or declared.id == id_:
        return Known(shown, (id_,))
    raw = filled(shown.raw, declared.data.manifest.raw)
    return Known(Manifest(raw, whole=declared.data.manifest.whole), (id_, declared.id))


def _labels(case: Case, one: Known) -> dict[str, str]:
    declared = texts(dig(one.manifest.template, "metadata", "labels"))
    if declared or one.ref != case.workload:
        return declared
    return next((pod.data.labels for pod in case.pods if pod.data.labels), {})


def _is_run(one: Known, workloads: list[Runs]) -> bool:
    if one.ref.kind not in ("Pod", "Job"):
        return False
    owner = one.manifest.owner
    if owner and owner.kind in ("ReplicaSet", "Job", *WORKLOADS):
        return any(owner.name.startswith(w.ref.name) for w in workloads)
    return any(w.ref.kind != "Pod" and one.ref.name.startswith(f"{w.ref.name}-") for w in workloads)
