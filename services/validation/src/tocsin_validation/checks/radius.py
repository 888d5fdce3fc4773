"""How much is at stake if the change is wrong?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.outlook import risk
from tocsin_validation.ports import Consequence, Proposed


class BlastRadiusIsSmall:
    """Where users are, or where much changes at once, a yes needs a closer look."""

    name = "blast-radius-is-small"
    severity = CheckSeverity.MINOR
    needs = "the edits; more, where the object and what is rendered are known"
    consequence = Consequence.WITH_CARE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.WIDE
    action = "look at what else it reaches before saying yes"

    def run(self, change: Proposed) -> CheckResult:
        """Apply the rules of risk that are about what the change reaches."""
        wide = [why for _, why in risk.reach(change)]
        if wide:
            return failed(self.name, "; ".join(wide))
        return passed(self.name, "one object, in no place that all depend on")
