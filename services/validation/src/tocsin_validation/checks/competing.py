"""Do others propose something for the same file?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed, untold
from tocsin_validation.ports import Consequence, Proposed


class NoCompetingPull:
    """Two open pull requests on one file may contradict each other: people have to see both."""

    name = "no-competing-pull-request"
    severity = CheckSeverity.MINOR
    needs = "the open pull requests and the files they touch"
    consequence = Consequence.WITH_CARE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.CONFLICT
    action = "read the other pull request before deciding on this one"

    def run(self, change: Proposed) -> CheckResult:
        """Name those of other branches that touch a file of the change."""
        competing = change.around.competing
        if competing.value is None:
            return untold(self.name, competing)
        if competing.value:
            return failed(self.name, f"open on the same file: {', '.join(competing.value)}")
        return passed(self.name, "no other open pull request touches the file")
