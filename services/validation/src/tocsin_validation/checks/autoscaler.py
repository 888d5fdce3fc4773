"""Does an autoscaler decide the number of pods anyway?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed, untold
from tocsin_validation.outlook import scaling
from tocsin_validation.ports import Consequence, Proposed


class NoAutoscalerDecides:
    """An autoscaler undoes a number of pods that is written beside it; none of 0 pods, though.

    One that aims at a share of what pods request is told of where that changes.
    """

    name = "no-autoscaler-decides"
    severity = CheckSeverity.MINOR
    needs = (
        "the HorizontalPodAutoscalers of the namespace, if the number of pods or requests change"
    )
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.CONFLICT
    action = "change minReplicas or maxReplicas of the autoscaler instead"

    def run(self, change: Proposed) -> CheckResult:
        """Look for one that scales the object of which the number of pods or requests change."""
        edited = [
            one for one in change.hypothesis.finding.changes
            if one.path == ("spec", "replicas")
        ]  # fmt: skip
        scalers = change.around.scalers
        if not edited:
            return self._requests(change)
        if scalers.value is None:
            return untold(self.name, scalers)
        for one in edited:
            mine = [scaler for scaler in scalers.value if scaling.scales(scaler, one.object)]
            if mine and one.before != 0:
                who = mine[0].ref
                return failed(self.name, f"{who} decides how many pods {one.object} has")
        return passed(self.name, "no autoscaler decides it, or it only begins above 0 pods")

    def _requests(self, change: Proposed) -> CheckResult:
        """Tell what other requests do to one that reckons in shares of them."""
        if not scaling.may_shift(change):
            return passed(self.name, "the number of pods stays as it is")
        if change.around.scalers.value is None:
            return untold(self.name, change.around.scalers)
        told = " ".join(scaling.shifts(change)) or "no autoscaler reckons in shares of it"
        return passed(self.name, told)
