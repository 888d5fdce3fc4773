"""Does the alert still fire?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed, untold
from tocsin_validation.ports import Consequence, Proposed


class AlertStillFires:
    """A change for an alert that has cleared would mend what is not broken."""

    name = "alert-still-firing"
    severity = CheckSeverity.MAJOR
    needs = "the record of the run"
    consequence = Consequence.NO_CHANGE
    reason = EndReason.ALERT_CLEARED
    code = FailureCode.CLEARED
    action = "wait whether the alert comes back"

    def run(self, change: Proposed) -> CheckResult:
        """Look up whether the run heard that its alerts cleared."""
        incident = change.around.incident
        if incident.value is None:
            return untold(self.name, incident)
        cleared = incident.value.cleared_at
        if cleared:
            return failed(self.name, f"the alerts cleared at {cleared:%H:%M} UTC")
        return passed(self.name, "the run has not heard that its alerts cleared")
