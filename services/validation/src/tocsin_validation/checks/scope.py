"""Does the change touch exactly what it says, and nothing else?"""

from tocsin_contracts import CheckResult, EditOp, EndReason
from tocsin_gitops.diffs import changed_lines
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed


class ScopeIsExact:
    """Each edit of a field changes one line: one removed, one added."""

    name = "scope-is-exact"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED

    def run(self, change: Proposed) -> CheckResult:
        """Compare the files and lines that change with the edits that were declared."""
        edited = {edit.file for edit in change.edits if edit.op is EditOp.SET}
        after = {path: data for path, data in change.after.items() if path in edited}
        lines = changed_lines(change.before, after)
        declared = sum(edit.op is EditOp.SET for edit in change.edits)
        files = ", ".join(sorted(change.after)) or "no file"
        named = {edit.file for edit in change.edits} == change.after.keys()
        answer = passed if named and lines <= 2 * declared else failed
        return answer(self.name, f"{declared} field(s) edited, {lines} line(s) of diff, in {files}")
