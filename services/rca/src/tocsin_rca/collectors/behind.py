"""Which workload is behind an object that runs no pods itself."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

from tocsin_cluster.manifest import Manifest, texts
from tocsin_cluster.owners import root_owner
from tocsin_contracts import ObjectRef
from tocsin_rca.collectors.known import Known
from tocsin_rca.evidence.selectors import differing_keys, is_named_for, selects

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "ReplicaSet", "Pod")


async def workload_behind(named: ObjectRef, known: Known) -> ObjectRef | None:
    """Return the workload, or None if it cannot be told which."""
    if named.kind in WORKLOADS:
        return await root_owner(known, named)
    if named.kind in _WAYS:
        return await _WAYS[named.kind](named, known)
    return None


async def _behind_service(named: ObjectRef, known: Known) -> ObjectRef | None:
    selectors = {
        service.ref: texts(service.dig("spec", "selector"))
        for service in await known.list("Service", named.namespace)
    }
    selector = selectors.pop(_called("Service", named, named.name), None)
    if selector is None:
        return await _by_template(named, {}, known) or await _only(named.namespace, known)
    pods = await known.list("Pod", named.namespace)
    chosen = [pod for pod in pods if selects(selector, pod.labels)]
    meant = None if chosen else await _by_template(named, selector, known)
    if meant:
        return meant
    near = [pod for pod in pods if len(differing_keys(selector, pod.labels)) == 1]
    owners = await _owners(chosen or near, known)
    related = _sole({owner for owner in owners if is_named_for(named.name, owner.name)})
    if related or (not chosen and len(selector) == 1):
        return related
    unserved = [p for p in near if not any(selects(s, p.labels) for s in selectors.values())]
    return _sole(owners) or (None if chosen else _sole(await _owners(unserved, known)))


async def _only(namespace: str, known: Known) -> ObjectRef | None:
    found = [one async for one in _workloads(namespace, known)]
    return _sole({await root_owner(known, one.ref) for one in found})


async def _by_template(
    named: ObjectRef, selector: dict[str, str], known: Known
) -> ObjectRef | None:
    """Return the workload whose pods would be selected, or else the one of the Service's name."""
    workloads = [one async for one in _workloads(named.namespace, known)]
    selected = {one.ref for one in workloads if selects(selector, _template_labels(one))}
    named_so = {one.ref for one in workloads if is_named_for(named.name, one.ref.name)}
    return _sole(selected) or _sole(named_so)


async def _behind_ingress(named: ObjectRef, known: Known) -> ObjectRef | None:
    services = [_called("Service", named, name) for name in _backends(await known.get(named))]
    behind = [await _behind_service(one, known) for one in dict.fromkeys(services)]
    return _sole({one for one in behind if one})


async def _using(claim: ObjectRef, known: Known) -> ObjectRef | None:
    def uses(one: Manifest) -> bool:
        mounted = one.template and _claims(one)
        return claim.name in (mounted or ()) or any(
            claim.name.startswith(f"{name}-{one.ref.name}-") for name in _templates(one)
        )

    found = await _first(claim.namespace, known, uses)
    return await root_owner(known, found) if found else None


async def _first(
    namespace: str, known: Known, fits: Callable[[Manifest], bool]
) -> ObjectRef | None:
    async for one in _workloads(namespace, known):
        if fits(one):
            return one.ref
    return None


async def _workloads(namespace: str, known: Known) -> AsyncIterator[Manifest]:
    for kind in WORKLOADS:
        for one in await known.list(kind, namespace):
            yield one


def _claims(one: Manifest) -> Iterator[str]:
    spec = one.template.get("spec") or {}
    for volume in spec.get("volumes") or ():
        claim = volume.get("persistentVolumeClaim") or {}
        yield str(claim.get("claimName"))


def _templates(one: Manifest) -> list[str]:
    templates = (Manifest(raw) for raw in one.items("spec", "volumeClaimTemplates"))
    return [template.ref.name for template in templates]


def _template_labels(one: Manifest) -> dict[str, str]:
    return texts((one.template.get("metadata") or {}).get("labels"))


async def _scaled(named: ObjectRef, known: Known) -> ObjectRef | None:
    manifest = await known.get(named)
    target = manifest.dig("spec", "scaleTargetRef") if manifest else None
    if not isinstance(target, dict) or not target.get("name"):
        return None
    return _called(str(target.get("kind") or "Deployment"), named, str(target["name"]))


def _backends(manifest: Manifest | None) -> Iterator[str]:
    for rule in manifest.items("spec", "rules") if manifest else ():
        for path in Manifest(rule).items("http", "paths"):
            name = Manifest(path).dig("backend", "service", "name")
            if isinstance(name, str):
                yield name


def _called(kind: str, near: ObjectRef, name: str) -> ObjectRef:
    return ObjectRef(kind=kind, namespace=near.namespace, name=name)


async def _owners(pods: Iterable[Manifest], known: Known) -> set[ObjectRef]:
    runs = {pod.owner or pod.ref: pod.ref for pod in pods}
    return {await root_owner(known, ref) for ref in runs.values()}


def _sole(owners: set[ObjectRef]) -> ObjectRef | None:
    return next(iter(owners)) if len(owners) == 1 else None


_WAYS: dict[str, Callable[[ObjectRef, Known], Awaitable[ObjectRef | None]]] = {
    "Service": _behind_service,
    "Endpoints": _behind_service,
    "HorizontalPodAutoscaler": _scaled,
    "Ingress": _behind_ingress,
    "PersistentVolumeClaim": _using,
}
