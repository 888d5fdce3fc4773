"""Has somebody changed the file since it was looked at?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_kit.untrusted import line
from tocsin_validation.checks.verdicts import failed, passed, untold
from tocsin_validation.ports import Consequence, Proposed


class NoLaterChange:
    """A newer commit may have mended it already; the cause is looked for afresh."""

    name = "no-later-change"
    severity = CheckSeverity.MAJOR
    needs = "the history of the file"
    consequence = Consequence.REFRESH
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.STALE
    action = "see what the newer commit changed"

    def run(self, change: Proposed) -> CheckResult:
        """Compare the newest commits of the file with when the evidence was collected."""
        later = change.around.later
        if later.value is None:
            return untold(self.name, later)
        seen = max((one.at for one in change.hypothesis.evidence), default=None)
        newer = [one for one in later.value if seen and one.at > seen]
        if newer:
            first = newer[0]
            told = f"{first.sha[:10]} ({line(first.subject, 80)})"
            return failed(self.name, f"{told} changed {change.target.file} after it was looked at")
        return passed(self.name, f"no commit since has changed {change.target.file}")
