"""Requests that containers do not make, and how much to request at least."""

from collections.abc import Iterator
from math import ceil

from tocsin_cluster.manifest import Container
from tocsin_contracts import ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.remedy import Remedy, all_of, inserted

_USUAL_CPU = "100m"
_STEP = 10
_MILLI = 1000
_MOST = 2000
_RESOURCES = "resources"


def request_cpu(case: Case, owner: ObjectRef) -> Remedy | None:
    """Return the requests that containers lack: what they were measured to take, or a small one."""
    seen = design(case, owner)
    lacking = [one for one in seen.data.containers() if _lacks(one)] if seen else []
    if seen is None or not lacking:
        return None
    measured = dict(_measured(case))
    sizes = {one.name: measured.get(one.name, (_USUAL_CPU, "")) for one in lacking}
    changes = all_of(
        inserted(owner, (*one.path, _RESOURCES, "requests", "cpu"), sizes[one.name][0])
        for one in lacking
    )
    ids = tuple(id for _, id in sizes.values() if id)
    because = (
        "It is what was measured."
        if len(ids) == len(lacking)
        else f"How much was taken was not measured; {_USUAL_CPU} is a small request to start from."
    )
    return Remedy(changes, because, (seen.id, *ids))


def _lacks(container: Container) -> bool:
    """A limit without a request counts as one; containers that only prepare are not measured."""
    asked = any(container.dig(_RESOURCES, one, "cpu") for one in ("requests", "limits"))
    return not asked and "initContainers" not in container.path


def _measured(case: Case) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what each container took at most in its pods, in steps that people would write."""
    pods = {pod.data.ref for pod in case.pods}
    taken = sorted(
        (one.data.cpu, one.data.container, one.id)
        for one in case.usage
        if one.data.container and one.data.cpu and one.data.about in pods
    )
    for cpu, container, id_ in taken:
        size = ceil(cpu * _MILLI / _STEP) * _STEP
        if size <= _MOST:
            yield container, (f"{size}m", id_)
