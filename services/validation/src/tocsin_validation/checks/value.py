"""Is the value in the repository the one that was seen in the cluster?"""

from tocsin_contracts import CheckResult, CheckSeverity, Edit, EditOp, EndReason, FailureCode
from tocsin_gitops import editing
from tocsin_gitops.editing import EditRefused
from tocsin_validation.checks.verdicts import failed, passed, unknown
from tocsin_validation.ports import Consequence, Proposed


class ValueIsCurrent:
    """An edit applied to the value that evidence shows; the editor refuses any other."""

    name = "value-is-current"
    severity = CheckSeverity.CRITICAL
    needs = "the files at the base commit"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.STALE
    action = "see what the file holds now, and whether the cause still holds"

    def run(self, change: Proposed) -> CheckResult:
        """Say which value the file holds at the base commit."""
        edits = [edit for edit in change.edits if edit.op is not EditOp.CREATE]
        if not edits:
            return unknown(self.name, "no field is edited: the change is put as a proposal")
        try:
            editing.apply(change.before, edits)
        except EditRefused as refused:
            return failed(self.name, str(refused))
        values = ", ".join(f"{edit.file} {_held(edit)}" for edit in edits)
        return passed(self.name, f"{values}, as the cluster runs it")


def _held(edit: Edit) -> str:
    return "holds nothing there" if edit.op is EditOp.INSERT else f"holds {edit.before!r}"
