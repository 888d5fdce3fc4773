"""What the last commits changed about the objects that the alert is about."""

from tocsin_contracts import EvidenceKind, ObjectRef
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.target import Target
from tocsin_rca.ports import ChangedField, FieldHistory

MOST_COMMITS = 10
_MAY_HOLD_SECRETS = frozenset({"env", "args", "command", "annotations", "httpHeaders"})


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the commits about the workload, the named object and the Service of that name."""
    refs = dict.fromkeys(ref for ref in (target.workload, target.named) if ref)
    if target.workload:
        refs.setdefault(target.workload.model_copy(update={"kind": "Service"}))
    return await together(
        inquiry.ask(
            inquiry.history.source, f"commits about {ref}", _look(ref, target.cluster, inquiry)
        )
        for ref in refs
        if ref.kind != "Pod" or ref == target.workload
    )


async def _look(ref: ObjectRef, cluster: str, inquiry: Inquiry) -> Observations:
    changes = await inquiry.history.recent_changes(ref, cluster=cluster, limit=MOST_COMMITS)
    query, source = f"commits about {ref}", inquiry.history.source
    return tuple(
        inquiry.saw(EvidenceKind.COMMIT, query, _told(change), change, source=source)
        for change in changes
    )


def _told(change: FieldHistory) -> str:
    head = f"{change.commit[:10]} {change.at.isoformat()} {change.author}: {change.subject}"
    return "\n".join((head, f"in {change.file}", *map(_line, change.fields)))


def _line(field: ChangedField) -> str:
    where = f"  {field.document} {'.'.join(str(step) for step in field.path)}"
    if _MAY_HOLD_SECRETS.intersection(field.path):
        return f"{where} changed"
    return f"{where}: {field.before!r} -> {field.after!r}"
