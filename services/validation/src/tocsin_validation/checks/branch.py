"""Is the issue's branch free to be written?"""

from tocsin_contracts import CheckResult, EndReason
from tocsin_gitops.pulls import PullState
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed


class BranchIsFree:
    """What people closed, merged or wrote there is their word on the issue: nothing is redone."""

    name = "branch-is-free"
    consequence = Consequence.ESCALATE
    reason = EndReason.BRANCH_TAKEN

    def run(self, change: Proposed) -> CheckResult:
        """Look for a pull request of this issue that has ended, and at the branch itself."""
        pull, at = change.pull, change.branch_at
        if pull and pull.state is not PullState.OPEN:
            return failed(
                self.name, f"{pull.url} of this issue is {pull.state.value} and the fault is back"
            )
        if at and (pull is None or at != pull.commit):
            known = f"{pull.url} is at {pull.commit[:10]}" if pull else "no pull request is known"
            return failed(
                self.name, f"the branch {change.head_branch!r} is at {at[:10]}, and {known}"
            )
        return passed(self.name, "nobody has closed or merged a pull request of this issue")
