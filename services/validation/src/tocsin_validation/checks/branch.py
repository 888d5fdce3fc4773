"""Is the issue's branch free to be written?"""

from tocsin_contracts import CheckResult, CheckVerdict, EndReason
from tocsin_gitops.pulls import PullState
from tocsin_validation.ports import Consequence, Proposed


class BranchIsFree:
    """A pull request that people closed or merged is their word on the issue; nothing reopens it."""

    name = "branch-is-free"
    consequence = Consequence.ESCALATE
    reason = EndReason.BRANCH_TAKEN

    def run(self, change: Proposed) -> CheckResult:
        """Look for a pull request of this issue that has ended."""
        pull = change.pull
        if pull and pull.state is not PullState.OPEN:
            detail = f"{pull.url} of this issue is {pull.state.value} and the fault is back"
            return CheckResult(check=self.name, verdict=CheckVerdict.FAIL, detail=detail)
        detail = "nobody has closed or merged a pull request of this issue"
        return CheckResult(check=self.name, verdict=CheckVerdict.PASS, detail=detail)
