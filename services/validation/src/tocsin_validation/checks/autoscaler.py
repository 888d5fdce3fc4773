"""Does an autoscaler decide the number of pods anyway?"""

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode, ObjectRef
from tocsin_validation.checks.verdicts import failed, passed, untold
from tocsin_validation.ports import Consequence, Proposed


class NoAutoscalerDecides:
    """An autoscaler undoes a number of pods that is written beside it; none of 0 pods, though."""

    name = "no-autoscaler-decides"
    severity = CheckSeverity.MINOR
    needs = "the HorizontalPodAutoscalers of the namespace, if the number of pods changes"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.CONFLICT
    action = "change minReplicas or maxReplicas of the autoscaler instead"

    def run(self, change: Proposed) -> CheckResult:
        """Look for one that scales the object of which the number of pods changes."""
        edited = [
            one for one in change.hypothesis.finding.changes
            if one.path == ("spec", "replicas")
        ]  # fmt: skip
        if not edited:
            return passed(self.name, "the number of pods stays as it is")
        scalers = change.around.scalers
        if scalers.value is None:
            return untold(self.name, scalers)
        for one in edited:
            mine = [scaler for scaler in scalers.value if _scales(scaler, one.object)]
            if mine and one.before != 0:
                who = mine[0].ref
                return failed(self.name, f"{who} decides how many pods {one.object} has")
        return passed(self.name, "no autoscaler decides it, or it only begins above 0 pods")


def _scales(scaler: Manifest, ref: ObjectRef) -> bool:
    target = scaler.dig("spec", "scaleTargetRef")
    named = (target.get("kind"), target.get("name")) if isinstance(target, dict) else ()
    return named == (ref.kind, ref.name)
