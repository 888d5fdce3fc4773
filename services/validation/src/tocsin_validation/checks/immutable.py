"""Does a cluster let these fields change in place?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_gitops.replacing import replaced
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed


class FieldsAreMutable:
    """What can only change by making the object anew is shown, and needs a person afterwards."""

    name = "fields-are-mutable"
    severity = CheckSeverity.MAJOR
    needs = "the edits"
    consequence = Consequence.WITH_CARE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.IMMUTABLE
    action = "after the merge, delete the object and let it be made anew"

    def run(self, change: Proposed) -> CheckResult:
        """Look the fields up in what a cluster refuses to change."""
        fixed = replaced(change.edits)
        if fixed:
            return failed(self.name, " ".join(fixed))
        return passed(self.name, "a cluster changes every one of these fields in place")
