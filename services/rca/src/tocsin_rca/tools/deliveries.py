"""What brought something into a namespace, and when: Kubernetes, Argo CD, Flux and Helm say it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from tocsin_cluster.events import read_time
from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import ObjectRef
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Brief
from tocsin_rca.collectors.commits import field_line
from tocsin_rca.collectors.rollouts import KEPT_IN, rollouts

MOST_FIELDS = 6
_LONGEST = 300
_CHART, _RELEASE = "helm.sh/chart", "meta.helm.sh/release-name"
_FLUX_NAMESPACE = ("helm.toolkit.fluxcd.io/namespace", "kustomize.toolkit.fluxcd.io/namespace")
_FLUX_NAME = ("helm.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/name")


class Delivered(Brief):
    """Something that was brought, when, by whom and what of it is known."""

    at: datetime
    when: str = ""
    by: str
    object: str
    what: str


class Standing(Brief):
    """How what delivers says that it stands."""

    by: str
    object: str
    state: str
    revision: str = ""
    why: str = ""


def revisions(workloads: Iterable[Manifest], kept: Sequence[Manifest]) -> Iterator[Delivered]:
    """Yield when each revision of workloads began; what is kept are their revisions."""
    for workload in workloads:
        ref = workload.ref
        for one in rollouts(kept, ref, workload) if ref.kind in KEPT_IN else ():
            if one.at:
                back = " brought back" if one.brought_back else ""
                fields = [field_line(field).strip() for field in one.changed[:MOST_FIELDS]]
                what = "; ".join([f"revision {one.revision}{back}", *fields])
                yield Delivered(
                    at=one.at, by="Kubernetes", object=_said(ref), what=line(what, _LONGEST)
                )


def synced(application: Manifest) -> Iterator[Delivered]:
    """Yield what an Argo CD Application deployed, as its history says."""
    for one in application.items("status", "history"):
        at = read_time(one.get("deployedAt"))
        if at:
            source = dig(one, "source", "path") or dig(one, "source", "chart") or ""
            what = f"revision {_revision(one)} of {source or 'its sources'}"
            yield Delivered(
                at=at, by="Argo CD", object=_said(application.ref), what=line(what, _LONGEST)
            )


def released(release: Manifest) -> Iterator[Delivered]:
    """Yield the releases that a HelmRelease of Flux keeps."""
    for one in release.items("status", "history"):
        at = read_time(one.get("lastDeployed"))
        if at:
            what = f"release {one.get('version')} of chart {one.get('chartName')} "
            what += f"{one.get('chartVersion')}, {one.get('status')}"
            yield Delivered(at=at, by="Flux", object=_said(release.ref), what=line(what, _LONGEST))


def applied(kustomization: Manifest) -> Iterator[Delivered]:
    """Yield when a Kustomization of Flux last became ready, or last failed."""
    ready = _condition(kustomization, "Ready")
    at = read_time(ready.get("lastTransitionTime"))
    if at:
        revision = kustomization.dig("status", "lastAppliedRevision") or "nothing"
        what = f"{ready.get('reason')}; {revision} is applied"
        yield Delivered(
            at=at, by="Flux", object=_said(kustomization.ref), what=line(what, _LONGEST)
        )


def of_argo(application: Manifest) -> Standing:
    """Return how an Application stands."""
    status = application.dig("status") or {}
    health, sync = dig(status, "health", "status"), dig(status, "sync", "status")
    phase = dig(status, "operationState", "phase")
    said = [str(one.get("message")) for one in application.items("status", "conditions")]
    if phase in ("Failed", "Error"):
        said.insert(0, str(dig(status, "operationState", "message")))
    return Standing(
        by="Argo CD",
        object=_said(application.ref),
        state=line(f"{health or 'of unknown health'}, {sync or 'never compared'}"),
        revision=line(_revision(dig(status, "sync") or {})),
        why=line("; ".join(said), _LONGEST),
    )


def of_flux(one: Manifest) -> Standing:
    """Return how a Kustomization or a HelmRelease stands."""
    ready, suspended = _condition(one, "Ready"), one.dig("spec", "suspend") is True
    state = {"True": "ready", "False": "not ready"}.get(str(ready.get("status")), "unknown")
    latest = next(iter(one.items("status", "history")), {})
    revision = one.dig("status", "lastAppliedRevision") or latest.get("chartVersion") or ""
    return Standing(
        by="Flux",
        object=_said(one.ref),
        state=f"{state}, suspended" if suspended else state,
        revision=line(str(revision)),
        why="" if state == "ready" else line(str(ready.get("message") or ""), _LONGEST),
    )


def of_helm(workloads: Iterable[Manifest]) -> tuple[Standing, ...]:
    """Return the Helm releases that workloads say they are of; no Secret is looked at for it."""
    found: dict[str, str] = {}
    for workload in workloads:
        annotations = workload.dig("metadata", "annotations") or {}
        release = workload.labels.get("app.kubernetes.io/instance", "")
        release = str(annotations.get(_RELEASE) or release)
        if release and workload.labels.get("app.kubernetes.io/managed-by") == "Helm":
            found.setdefault(release, workload.labels.get(_CHART, ""))
    return tuple(
        Standing(by="Helm", object=f"release {line(name)}", state="installed", revision=line(chart))
        for name, chart in sorted(found.items())
    )


def goes_to(application: Manifest, namespace: str) -> bool:
    """Whether an Application brings something into a namespace."""
    if application.dig("spec", "destination", "namespace") == namespace:
        return True
    return any(
        one.get("namespace") == namespace for one in application.items("status", "resources")
    )


def flux_owners(workloads: Iterable[Manifest]) -> frozenset[tuple[str, str]]:
    """Return namespace and name of what of Flux says that it made workloads."""
    named = (
        (one.labels.get(namespace, ""), one.labels.get(name, ""))
        for one in workloads
        for namespace, name in zip(_FLUX_NAMESPACE, _FLUX_NAME, strict=True)
    )
    return frozenset(pair for pair in named if all(pair))


def _said(ref: ObjectRef) -> str:
    return line(str(ref))


def _revision(one: Mapping[str, Any]) -> str:
    several = one.get("revisions")
    found = several if isinstance(several, list) and several else [one.get("revision") or "unknown"]
    return ", ".join(map(str, found))


def _condition(manifest: Manifest, kind: str) -> Mapping[str, Any]:
    conditions = manifest.items("status", "conditions")
    return next((one for one in conditions if one.get("type") == kind), {})
