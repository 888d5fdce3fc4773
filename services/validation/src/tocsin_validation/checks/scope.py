"""Does the change touch exactly what it says, and nothing else?"""

from tocsin_contracts import CheckResult, CheckSeverity, Edit, EditOp, EndReason, FailureCode, Tree
from tocsin_gitops.diffs import changed_lines
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed

_NARROW = 60
"""Text as long as this may have been written on more lines than one."""


class ScopeIsExact:
    """A field that is set changes one line; what is added or taken away, one for each value."""

    name = "scope-is-exact"
    severity = CheckSeverity.CRITICAL
    needs = "the files before and after"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.OUT_OF_SCOPE
    action = "change the file by hand"

    def run(self, change: Proposed) -> CheckResult:
        """Compare the files and lines that change with the edits that were declared."""
        edits = [edit for edit in change.edits if edit.op is not EditOp.CREATE]
        edited = {edit.file for edit in edits}
        after = {path: data for path, data in change.after.items() if path in edited}
        lines = changed_lines(change.before, after)
        files = ", ".join(sorted(change.after)) or "no file"
        named = {edit.file for edit in change.edits} == change.after.keys()
        answer = passed if named and lines <= sum(map(_most_lines, edits)) else failed
        return answer(
            self.name, f"{len(edits)} field(s) edited, {lines} line(s) of diff, in {files}"
        )


def _most_lines(edit: Edit) -> int:
    """One line removed and one added; a line for every value and every mapping around it."""
    match edit.op:
        case EditOp.INSERT:
            return 2 + len(edit.path) + _size(edit.after)
        case EditOp.APPEND:
            return 2 + _size(edit.after)
        case EditOp.DELETE:
            return 2 + _size(edit.before)
    return 2 + len(str(edit.before)) // _NARROW


def _size(value: Tree) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_size, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(_size, value))
    return 1 + str(value).count("\n")
