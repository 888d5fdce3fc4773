"""Does the operator's write policy allow it?"""

from tocsin_contracts import CheckResult, CheckVerdict, EndReason
from tocsin_gitops import policy
from tocsin_validation.ports import Consequence, Proposed


class PolicyAllows:
    """Repository, path, kind, field and bounds, judged by the same rules as before the write."""

    name = "policy-allows"
    consequence = Consequence.ESCALATE
    reason = EndReason.POLICY_DENIED

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
            ),
        )
        if broken:
            detail = "; ".join(violation.detail for violation in broken)
            return CheckResult(check=self.name, verdict=CheckVerdict.FAIL, detail=detail)
        return CheckResult(
            check=self.name,
            verdict=CheckVerdict.PASS,
            detail=f"repository, path, kind, field and bounds (policy {change.policy.version[:12]})",
        )
