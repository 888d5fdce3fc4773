"""What the last commits changed about the objects that the alert is about."""

from datetime import datetime

from tocsin_contracts import EvidenceKind, ObjectRef
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence.distances import distance
from tocsin_rca.ports import ChangedField, FieldHistory

MOST_COMMITS = 10
_MAY_HOLD_SECRETS = frozenset({"env", "args", "command", "annotations", "httpHeaders"})


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the commits about the workload, the named object and the Service of that name."""
    refs = dict.fromkeys(ref for ref in (target.workload, target.named) if ref)
    if target.workload:
        refs.setdefault(target.workload.model_copy(update={"kind": "Service"}))
    return await together(
        inquiry.ask(inquiry.history.source, f"commits about {ref}", _look(ref, target, inquiry))
        for ref in refs
        if ref.kind != "Pod" or ref == target.workload
    )


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
    where = f"  {field.document} {'.'.join(str(step) for step in field.path)}"
    if _MAY_HOLD_SECRETS.intersection(field.path):
        return f"{where} changed"
    return f"{where}: {field.before!r} -> {field.after!r}"
