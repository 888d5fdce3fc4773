"""Does what was seen support what is claimed?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, EvidenceKind, FailureCode
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed


class EvidenceSupportsClaim:
    """Every id that the finding cites is evidence, and not a question without an answer."""

    name = "evidence-supports-claim"
    severity = CheckSeverity.CRITICAL
    needs = "the evidence of the investigation"
    consequence = Consequence.LOOK_AGAIN
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.EVIDENCE_MISSING
    action = "investigate by hand what the finding claims"

    def run(self, change: Proposed) -> CheckResult:
        """Look up what the finding cites."""
        seen = {item.id: item for item in change.hypothesis.evidence}
        cited = change.hypothesis.finding.evidence
        unknown = [one for one in cited if one not in seen]
        missing = [one for one in cited if one in seen and seen[one].kind is EvidenceKind.MISSING]
        if not cited or unknown or missing:
            wrong = ", ".join([*unknown, *missing]) or "nothing"
            return failed(self.name, f"the finding cites {wrong}, which nobody has seen")
        return passed(
            self.name, f"{len(cited)} of {len(seen)} pieces of evidence: {', '.join(cited)}"
        )
