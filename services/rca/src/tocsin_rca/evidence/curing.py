"""The undo of a recent commit, for a fault that nothing else of what was seen would cure."""

from collections.abc import Iterator
from datetime import timedelta

from tocsin_contracts import CauseClass, ChangeOp, FieldChange, FieldPath, Finding, ObjectRef
from tocsin_gitops import field_rules
from tocsin_gitops.bounds import Limits
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.culprits import OF, Culprits
from tocsin_rca.evidence.images import only_version_differs
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.remedy import Remedy, with_remedy
from tocsin_rca.evidence.restoring import given_back, marked
from tocsin_rca.evidence.sightings import Change
from tocsin_rca.evidence.undoing import histories
from tocsin_rca.ports import ChangedField, FieldHistory

_SURE = 0.75
_RECENT = timedelta(days=7)
_CLOCKS = timedelta(minutes=5)
_IMMUTABLE = ("immutable", "updates to statefulset spec", "field is immutable")


def cured(case: Case, finding: Finding) -> Finding:
    """Return the finding with the undo of the last commit to a field that its cause may lie in.

    As it was if it has a cure already or is not sure, or if no such commit was made in the days
    before the alert began: an older one has been well for a while.
    """
    if finding.change:
        return finding.model_copy(update={"change": _proven(case, finding.change)})
    culprits = OF.get(finding.cause)
    if culprits is None or finding.confidence < _SURE:
        return finding
    for seen, fields in _recent(case, finding, culprits):
        if remedy := _undo(case, finding, seen, fields, culprits):
            return with_remedy(finding, remedy)
    return finding


def _proven(case: Case, change: FieldChange) -> FieldChange:
    """Name the commit that a change undoes, where only its history can prove the value right."""
    if change.op is not ChangeOp.SET or change.undo_of or _is_ordinary(change):
        return change
    for seen in histories(case):
        for one in seen.data.fields:
            same = (one.path, one.before, one.after) == (change.path, change.new, change.old)
            if same and (one.document.kind, one.document.name) == _named(change.object):
                return change.model_copy(update={"undo_of": seen.data.commit})
    return change


def _is_ordinary(change: FieldChange) -> bool:
    """Whether the write policy takes such a change without a proof."""
    rule = field_rules.find(change.object.kind, change.path)
    return rule is not None and not rule.bound(change.old, change.new, Limits())


def _named(ref: ObjectRef) -> tuple[str, str]:
    return ref.kind, ref.name


def _recent(
    case: Case, finding: Finding, culprits: Culprits
) -> Iterator[tuple[Observation[FieldHistory], tuple[ChangedField, ...]]]:
    """Yield commits, the newest first, with what they made of the fields as they are now."""
    began, known = case.alert.starts_at, set[tuple[str, str, FieldPath]]()
    for seen in histories(case) if began else ():
        fields = [
            one
            for one in seen.data.fields
            if _concerns(case, finding, one.document)
            and culprits.root(one.document.kind, one.path)
            and (one.document.kind, one.document.name, one.path) not in known
        ]
        known |= {(one.document.kind, one.document.name, one.path) for one in fields}
        soon = began and -_CLOCKS <= began - seen.data.at <= _RECENT
        if fields and soon and _explains(finding, fields):
            yield seen, tuple(fields)


def _undo(
    case: Case,
    finding: Finding,
    seen: Observation[FieldHistory],
    fields: tuple[ChangedField, ...],
    culprits: Culprits,
) -> Remedy | None:
    document = fields[0].document
    if any(one.document != document for one in fields):
        return None
    target = document
    if not target.namespace:
        target = target.model_copy(update={"namespace": finding.object.namespace})
    declared = [one for one in case.declarations(target.kind) if one.data.file == seen.data.file]
    same = [one for one in declared if one.data.manifest.ref.name == target.name]
    now = same[0].data.manifest.raw if len(same) == 1 else {}
    changes = given_back(
        target, now, fields, lambda one: culprits.root(one.document.kind, one.path)
    )
    told = Change(seen, fields[0]).told
    because = f"{told} changed it shortly before; this undoes exactly that."
    return Remedy(marked(changes, seen.data.commit), because, (seen.id,)) if changes else None


def _concerns(case: Case, finding: Finding, document: ObjectRef) -> bool:
    about = (finding.object, case.workload, case.named)
    return any(
        ref is not None
        and (ref.kind, ref.name) == (document.kind, document.name)
        and document.namespace in ("", ref.namespace)
        for ref in about
    )


def _explains(finding: Finding, fields: list[ChangedField]) -> bool:
    """Whether what the commit did can have led to what was said, where that may be otherwise."""
    said = finding.summary
    match finding.cause:
        case CauseClass.COMMAND_NOT_FOUND:
            return any(one.after is None or _word(one) in said for one in fields)
        case CauseClass.MISSING_ENV:
            return any(one.after is None and str(one.before) in said for one in fields)
        case CauseClass.ADMISSION_DENIED:
            return "tag" in said.lower() and all(map(_is_a_version, fields))
        case CauseClass.GITOPS_SYNC_FAILED:
            return any(word in said.lower() for word in _IMMUTABLE)
    return True


def _word(field: ChangedField) -> str:
    words = str(field.after).split()
    return words[0] if words else ""


def _is_a_version(field: ChangedField) -> bool:
    before, after = field.before, field.after
    images = isinstance(before, str) and isinstance(after, str)
    return images and only_version_differs(str(before), str(after))
