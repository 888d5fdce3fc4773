"""Does the operator's write policy allow it?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_gitops import policy
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed


class PolicyAllows:
    """Repository, path, kind, field and bounds, judged by the same rules as before the write."""

    name = "policy-allows"
    severity = CheckSeverity.CRITICAL
    needs = "the write policy and the files"
    consequence = Consequence.ESCALATE
    reason = EndReason.POLICY_DENIED
    code = FailureCode.POLICY_DENIED
    action = "change it by hand, or allow it in gitops.yaml"

    def run(self, change: Proposed) -> CheckResult:
        """Name every rule that the change breaks."""
        broken = policy.judge(
            change.policy,
            policy.Change(
                repo=change.target.repo,
                edits=change.edits,
                before=change.before,
                after=change.after,
                modes=change.modes,
                past=change.past,
            ),
        )
        if broken:
            return failed(self.name, "; ".join(violation.detail for violation in broken))
        version = change.policy.version[:12]
        return passed(self.name, f"repository, path, kind, field and bounds, policy {version}")
