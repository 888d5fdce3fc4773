"""Has somebody proposed this already?"""

from tocsin_contracts import CheckResult, EndReason
from tocsin_gitops.pulls import PullState
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed


class NoOpenPull:
    """At most one open pull request per issue: its branch is the issue's own."""

    name = "no-open-pull-request"
    consequence = Consequence.NO_CHANGE
    reason = EndReason.ALREADY_PROPOSED

    def run(self, change: Proposed) -> CheckResult:
        """Look at the pull request of the issue's branch, if there is one."""
        pull = change.pull
        if pull and pull.state is PullState.OPEN:
            return failed(self.name, f"{pull.url} proposes a change for this issue and is open")
        return passed(self.name, "no pull request of this issue is open")
