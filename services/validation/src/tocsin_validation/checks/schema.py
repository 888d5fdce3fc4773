"""Would the cluster's version take the objects as they become?"""

from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_contracts import CheckResult, CheckSeverity, EditOp, EndReason, FailureCode
from tocsin_gitops import manifests, trees
from tocsin_gitops.editing import EditRefused
from tocsin_validation.checks.verdicts import failed, passed, unknown
from tocsin_validation.outlook import schemas
from tocsin_validation.outlook.schemas import Faults
from tocsin_validation.ports import Consequence, Proposed

Object = Mapping[str, Any]


class SchemaIsValid:
    """Only faults that the change brings count; what has no schema is not known to be right."""

    name = "schema-is-valid"
    severity = CheckSeverity.MAJOR
    needs = "the files; of a custom resource its definition in the cluster"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.SCHEMA_INVALID
    action = "correct the field by hand: the cluster would refuse the object"

    def run(self, change: Proposed) -> CheckResult:
        """Validate each object that changes before and after, strictly."""
        if all(edit.op is EditOp.CREATE for edit in change.edits):
            return passed(self.name, "no object is edited")
        version = schemas.version_for(change.around.version)
        try:
            pairs = list(_changed(change))
        except EditRefused as refused:
            return unknown(self.name, f"the objects cannot be read as a whole: {refused}")
        found = [
            (str(new.get("kind")), _new_faults(change, version, old, new)) for old, new in pairs
        ]
        wrong = [f"{kind}: {why}" for kind, faults in found for why in sorted(faults or ())]
        if wrong:
            return failed(self.name, "; ".join(wrong[:3]))
        blind = sorted({kind for kind, faults in found if faults is None})
        if blind or not found:
            kinds = ", ".join(blind) or "what changes"
            return unknown(self.name, f"there is no schema for {kinds}", FailureCode.UNSUPPORTED)
        told = (
            "" if change.around.version else ", the newest known: the cluster does not tell its own"
        )
        return passed(
            self.name, f"{len(found)} object(s) by the schema of Kubernetes {version}{told}"
        )


def _changed(change: Proposed) -> Iterator[tuple[Object, Object]]:
    """Yield the objects that change: as rendered where they are, else as written."""
    rendered = change.around.rendered.value
    if rendered and rendered.after:
        for folder, text in rendered.after.items():
            yield from _pairs(rendered.before[folder].encode(), text.encode())
        return
    for file, data in change.after.items():
        if manifests.is_yaml(file) and file in change.before:
            yield from _pairs(change.before[file], data)


def _pairs(before: bytes, after: bytes) -> Iterator[tuple[Object, Object]]:
    old = {document.ref: document for document in manifests.read("before.yaml", before)}
    for document in manifests.read("after.yaml", after):
        former = old.get(document.ref)
        new = trees.read(document.node)
        was = trees.read(former.node) if former else {}
        if isinstance(new, dict) and isinstance(was, dict) and new != was:
            yield was, new


def _new_faults(change: Proposed, version: str, old: Object, new: Object) -> Faults | None:
    before, after = (_faults(change, version, one) for one in (old, new))
    return None if after is None else after - (before or frozenset())


def _faults(change: Proposed, version: str, raw: Object) -> Faults | None:
    known = schemas.faults(raw, version)
    if known is not None or not raw:
        return known
    own = (change.around.schemas.value or {}).get(
        (str(raw.get("apiVersion")), str(raw.get("kind")))
    )
    return schemas.faults_of_custom(raw, own) if own else None
