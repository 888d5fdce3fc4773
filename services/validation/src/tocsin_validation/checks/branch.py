"""Is the issue's branch free to be written?"""

from tocsin_contracts import CheckResult, EndReason
from tocsin_gitops.pulls import PullState
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed


class BranchIsFree:
    """What people closed or merged is their word on the issue: nothing is reopened."""

    name = "branch-is-free"
    consequence = Consequence.ESCALATE
    reason = EndReason.BRANCH_TAKEN

    def run(self, change: Proposed) -> CheckResult:
        """Look for a pull request of this issue that has ended."""
        pull = change.pull
        if pull and pull.state is not PullState.OPEN:
            return failed(
                self.name, f"{pull.url} of this issue is {pull.state.value} and the fault is back"
            )
        return passed(self.name, "nobody has closed or merged a pull request of this issue")
