"""Is now a time at which things may change?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_kit.untrusted import line
from tocsin_validation.checks.verdicts import failed, passed, untold
from tocsin_validation.ports import Consequence, Proposed


class NoFreeze:
    """In a change freeze people may still say yes, but they have to know."""

    name = "no-freeze"
    severity = CheckSeverity.MAJOR
    needs = "the record of the run, and triage"
    consequence = Consequence.WITH_CARE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.FROZEN
    action = "wait for the end of the freeze, or ask who declared it"

    def run(self, change: Proposed) -> CheckResult:
        """Look up whether a freeze holds now, or when the run began if triage does not answer."""
        incident = change.around.incident
        if incident.value is None:
            return untold(self.name, incident)
        if incident.value.freeze:
            return failed(self.name, f"a freeze holds: {line(incident.value.freeze, 200)}")
        return passed(self.name, "no change freeze is known to hold")
