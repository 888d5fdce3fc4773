"""Carry a change of what a controller made to its owner: what is declared is only that one."""

from tocsin_cluster.manifest import POD_TEMPLATE
from tocsin_contracts import FieldChange, FieldPath, Finding, ObjectRef


def on_owner(finding: Finding, made: ObjectRef, owner: ObjectRef) -> Finding | None:
    """Return the finding with its changes at the owner; None where one has no place there."""
    changes = [_carried(change, made, owner) for change in finding.changes]
    if any(change is None for change in changes):
        return None
    first, *further = [change for change in changes if change is not None]
    moved = {"object": owner} if finding.object == made else {}
    return finding.model_copy(update={**moved, "change": first, "further": tuple(further)})


def _carried(change: FieldChange, made: ObjectRef, owner: ObjectRef) -> FieldChange | None:
    if change.object != made:
        return change
    path = _path(change.path, made.kind, owner.kind)
    return change.model_copy(update={"object": owner, "path": path}) if path else None


def _path(path: FieldPath, made: str, owner: str) -> FieldPath | None:
    if (made, owner) == ("Job", "CronJob"):
        return ("spec", "jobTemplate", *path)
    inner, outer = POD_TEMPLATE.get(made), POD_TEMPLATE.get(owner)
    if inner is None or outer is None or path[: len(inner)] != inner:
        return None
    return (*outer, *path[len(inner) :])
