"""Has somebody changed the file since it was looked at?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_kit.untrusted import line
from tocsin_validation.checks.verdicts import failed, passed, unknown, untold
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
        if seen is None:
            return unknown(self.name, "it is not told when it was looked at")
        files = ", ".join(dict.fromkeys(edit.file for edit in change.edits))
        newer = [one for one in later.value if one.at > seen]
        if newer:
            first = newer[0]
            told = f"{first.sha[:10]} ({line(first.subject, 80)})"
            return failed(self.name, f"{told} changed {files} after it was looked at")
        return passed(self.name, f"no commit since has changed {files}")
