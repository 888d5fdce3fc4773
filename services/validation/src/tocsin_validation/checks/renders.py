"""Can what deploys the file still be rendered?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed, untold
from tocsin_validation.ports import Consequence, Proposed


class Renders:
    """What could be built before must still build; nothing is fetched for it."""

    name = "renders"
    severity = CheckSeverity.MAJOR
    needs = "kubectl, or helm for a chart, and every file that is used"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.RENDER_FAILED
    action = "build the kustomization or chart by hand and read what it says"

    def run(self, change: Proposed) -> CheckResult:
        """Say what became of it."""
        rendered = change.around.rendered
        if rendered.value is None:
            return untold(self.name, rendered)
        if rendered.value.fault:
            return failed(self.name, f"after the change: {rendered.value.fault}")
        folders = ", ".join(sorted(rendered.value.after))
        return passed(self.name, f"kustomize builds {folders}" if folders else "nothing to render")
