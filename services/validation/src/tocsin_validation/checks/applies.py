"""Do the edits make the files that people are shown?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_gitops import editing
from tocsin_gitops.editing import EditRefused
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed


class EditApplies:
    """The same edits on the same files give the same bytes, and every file differs."""

    name = "edit-applies"
    severity = CheckSeverity.CRITICAL
    needs = "the files before and after"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.EDIT_REFUSED
    action = "change the file by hand"

    def run(self, change: Proposed) -> CheckResult:
        """Make the edits once more."""
        try:
            again = editing.apply(change.before, change.edits)
        except EditRefused as refused:
            return failed(self.name, str(refused))
        if again != change.after:
            return failed(self.name, "made twice, the edits give two results")
        same = [path for path, data in again.items() if change.before.get(path) == data]
        if same or not again:
            return failed(self.name, f"nothing changes in {', '.join(same) or 'any file'}")
        return passed(self.name, f"{len(change.edits)} edit(s) of {', '.join(sorted(again))}")
