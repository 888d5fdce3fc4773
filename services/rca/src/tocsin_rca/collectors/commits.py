"""What the last commits changed about the objects that the alert is about."""

from datetime import datetime

from tocsin_contracts import EvidenceKind, ObjectRef
from tocsin_gitops.yaml_paths import path_text
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence.distances import distance
from tocsin_rca.ports import ChangedField, FieldHistory

MOST_COMMITS = 10
MOST_AROUND = 4
AROUND = ("Ingress", "HTTPRoute", "NetworkPolicy", "ConfigMap", "PersistentVolumeClaim")
"""Kinds whose last change often explains what happens to a workload that they are not part of."""

_MAY_HOLD_SECRETS = frozenset({"env", "args", "command", "annotations", "httpHeaders"})


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the commits about what the alert is about and what decides how it is reached.

    That is the workload, the named object, the Service of that name, and some objects around.
    """
    refs = dict.fromkeys(ref for ref in (target.workload, target.named) if ref)
    if target.workload:
        refs.setdefault(target.workload.model_copy(update={"kind": "Service"}))
    refs |= dict.fromkeys(_around(target))
    return await together(
        inquiry.ask(inquiry.history.source, f"commits about {ref}", _look(ref, target, inquiry))
        for ref in refs
        if ref.kind != "Pod" or ref == target.workload
    )


def _around(target: Target) -> list[ObjectRef]:
    """Declared objects of the namespace, those that lead to the workload first."""
    declared = [one.manifest.ref for one in target.declared]
    near = [r for r in declared if r.kind in AROUND and r.namespace in ("", target.namespace)]
    placed = [r.model_copy(update={"namespace": target.namespace}) for r in near]
    return sorted(placed, key=lambda ref: AROUND.index(ref.kind))[:MOST_AROUND]


async def _look(ref: ObjectRef, target: Target, inquiry: Inquiry) -> Observations:
    asked = inquiry.history.recent_changes(ref, cluster=target.cluster, limit=MOST_COMMITS)
    changes, start = await asked, target.alert.starts_at
    query, source = f"commits about {ref}", inquiry.history.source
    return tuple(
        inquiry.saw(
            EvidenceKind.COMMIT,
            query,
            _told(change, start),
            change,
            source=source,
            ref=f"{change.file}@{change.commit}",
        )
        for change in changes
    )


def _told(change: FieldHistory, start: datetime | None) -> str:
    head = f"{change.commit[:10]} {change.at.isoformat()} {change.author}: {change.subject}"
    where = ", ".join(filter(None, (f"in {change.file}", distance(change.at, start))))
    return "\n".join((head, where, *map(field_line, change.fields)))


def field_line(field: ChangedField) -> str:
    """Return what changed, without a value that may be a secret."""
    where = f"  {field.document} {path_text(field.path)}"
    if _MAY_HOLD_SECRETS.intersection(field.path):
        return f"{where} changed"
    return f"{where}: {field.before!r} -> {field.after!r}"
