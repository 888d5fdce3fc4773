"""Which Kustomization or HelmRelease of Flux deploys an object: the one whose inventory has it.

Labels alone are no proof, as whoever copies a manifest copies them too; nor is an inventory that
the object's labels deny.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import EVERYWHERE, Cluster
from tocsin_contracts import ObjectRef
from tocsin_kit.untrusted import line
from tocsin_validation.resolving import flux_sources
from tocsin_validation.resolving.answers import Found, Search, Unresolved
from tocsin_validation.resolving.argo_apps import is_of_group
from tocsin_validation.resolving.flux_sources import called
from tocsin_validation.resolving.origins import Origin, place

ASKED = "Flux"
SECONDS = 20.0
_GROUPS = {
    "Kustomization": "kustomize.toolkit.fluxcd.io",
    "HelmRelease": "helm.toolkit.fluxcd.io",
}
_RELEASE = "meta.helm.sh/release-name"


async def by_flux(search: Search) -> Found | Unresolved | None:
    """Return what the object of Flux says that deploys it; None if nothing is sure."""
    ref, trace = search.question.object, search.trace
    known = await _known(search)
    owning = [one for one in known if _owns(one, search) or _releases(one, search)]
    if not owning:
        claimed = _claimed(search)
        if known or claimed:
            trace.note(ASKED, f"none of {len(known)} objects deploys {ref}", claimed)
        return None
    chosen = await search.one_of([called(one) for one in owning]) if len(owning) > 1 else 0
    if chosen is None:
        return search.refuse(f"{ref} is deployed by each of: {_names(owning)}.")
    one = owning[chosen]
    proof = "its inventory has it" if has(one, ref) else "its release"
    proof += ", and the object names it" if search.question.shown else ""
    trace.note(ASKED, f"{called(one)} deploys {ref}", proof)
    origin = await _origin(one, search)
    return await place(_shared(origin, one, known), search) if origin else None


async def _known(search: Search) -> Sequence[Manifest]:
    """Return the objects of Flux; what cannot be seen is one step for each reason."""
    found, unseen = list[Manifest](), dict[str, list[str]]()
    for kind in _GROUPS:
        try:
            async with asyncio.timeout(SECONDS):
                found += await _all(kind, search.clusters.named(search.question.cluster))
        except (ClusterError, TimeoutError) as error:
            why = line(str(error), 300) or f"no answer within {SECONDS:g} s"
            unseen.setdefault(why, []).append(kind)
    for why, kinds in unseen.items():
        search.trace.note(ASKED, f"no {' and no '.join(kinds)} was seen", why)
    return found


async def _all(kind: str, view: Cluster) -> Sequence[Manifest]:
    found = await view.list(kind, EVERYWHERE)
    mine = [one for one in found if _group(one) == _GROUPS[kind]]
    return [one for one in mine if not one.dig("spec", "kubeConfig")]


def _group(one: Manifest) -> str:
    return str(one.raw.get("apiVersion") or "").partition("/")[0]


def has(one: Manifest, ref: ObjectRef) -> bool:
    """Whether an inventory holds an object; its ids are namespace, name, group and kind."""
    start, end = f"{ref.namespace}_{ref.name.replace(':', '__')}_", f"_{ref.kind}"
    ids = (str(entry.get("id") or "") for entry in one.items("status", "inventory", "entries"))
    return any(
        id_.startswith(start)
        and id_.endswith(end)
        and len(id_) >= len(start) + len(end)
        and _is_group(id_[len(start) : -len(end)], ref.kind)
        for id_ in ids
    )


def _owns(one: Manifest, search: Search) -> bool:
    """Whether an inventory holds the object, and the object bears the mark of who applied it.

    Whoever writes objects of Flux may write any inventory; the marks are put by its controllers.
    """
    unseen = search.question.shown is None
    return has(one, search.question.object) and (unseen or _is_named(one, search))


def _is_named(one: Manifest, search: Search) -> bool:
    labels, group = search.question.labels, _GROUPS[one.ref.kind]
    named = (labels.get(f"{group}/namespace"), labels.get(f"{group}/name"))
    return named == (one.ref.namespace, one.ref.name)


def _is_group(group: str, kind: str) -> bool:
    """An underscore belongs to the name of another object, which stands before the group."""
    return "_" not in group and is_of_group(kind, group)


def _releases(one: Manifest, search: Search) -> bool:
    """Whether an object says that a HelmRelease made it, and Helm's own mark does not deny it.

    A release that keeps an inventory has to have it there.
    """
    if one.ref.kind != "HelmRelease" or one.items("status", "inventory", "entries"):
        return False
    if not _is_named(one, search):
        return False
    shown = search.question.shown
    marked = shown.dig("metadata", "annotations", _RELEASE) if shown else None
    known = {str(past.get("name")) for past in one.items("status", "history")}
    return not marked or not known or str(marked) in known


def _claimed(search: Search) -> str:
    """Say what labels claim, where nothing bears it out."""
    labels = search.question.labels
    for kind, group in _GROUPS.items():
        if name := labels.get(f"{group}/name"):
            place_ = labels.get(f"{group}/namespace", "")
            return (
                f"its labels name {kind} {line(place_)}/{line(name)}, which was not seen to have it"
            )
    return ""


async def _origin(one: Manifest, search: Search) -> Origin | None:
    try:
        view = search.clusters.named(search.question.cluster)
        async with asyncio.timeout(SECONDS):
            if one.ref.kind == "Kustomization":
                return await _of_kustomization(one, view, search)
            return await _of_release(one, view, search)
    except (ClusterError, TimeoutError) as error:
        search.trace.note(called(one), "its source was not seen", line(str(error), 300))
        return None


async def _of_kustomization(one: Manifest, view: Cluster, search: Search) -> Origin | None:
    ref = flux_sources.reference(one, one.dig("spec", "sourceRef"))
    source = await view.get(ref)
    if source is None:
        search.trace.note(called(one), f"its source {ref} is not there")
        return None
    return flux_sources.kustomization(one, source)


async def _of_release(one: Manifest, view: Cluster, search: Search) -> Origin | None:
    known = flux_sources.chart(one)
    if known and known.source.kind == "HelmChart":
        known = flux_sources.chart(one, await view.get(known.source))
    if known is None:
        search.trace.note(called(one), "it names no chart")
        return None
    in_git = known.source.kind == "GitRepository"
    source = await view.get(known.source) if in_git else None
    if in_git and source is None:
        search.trace.note(called(one), f"the source {known.source} of its chart is not there")
        return None
    return flux_sources.helm_release(one, known, source)


def _shared(origin: Origin, one: Manifest, known: Sequence[Manifest]) -> Origin:
    """Name the other objects that deploy the same folder or chart: a change reaches them too."""
    others = [
        other for other in known if (other.ref.kind, other.ref != one.ref) == (one.ref.kind, True)
    ]
    same = [other for other in others if _where(other) == _where(one)]
    named = tuple(map(called, same))
    if one.ref.kind == "Kustomization":
        return replace(origin, shared_with=named)
    lead = _value_files(one)[-1:]
    files = [other for other in same if not lead or {*lead} & {*_value_files(other)}]
    return replace(origin, shared_with=tuple(map(called, files)), chart_shared_with=named)


def _where(one: Manifest) -> tuple[object, str]:
    """Return the source of an object and the folder in it, as far as the object tells."""
    if one.ref.kind == "Kustomization":
        path = str(one.dig("spec", "path") or "")
        return flux_sources.reference(one, one.dig("spec", "sourceRef")), path.strip("./")
    chart = flux_sources.chart(one)
    return (chart.source, chart.name.strip("./")) if chart else (one.ref, "")


def _value_files(one: Manifest) -> tuple[str, ...]:
    chart = flux_sources.chart(one)
    return chart.values_files if chart else ()


def _names(found: Sequence[Manifest]) -> str:
    return ", ".join(called(one) for one in found)
