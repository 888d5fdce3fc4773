"""Does the change hold a secret?"""

from collections import Counter

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_kit.redaction import Redactor
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed

_REDACTOR = Redactor()


class NoSecretInChange:
    """What is written to a repository can be read for ever: by its form, a secret never is."""

    name = "no-secret-in-change"
    severity = CheckSeverity.CRITICAL
    needs = "the diff"
    consequence = Consequence.ESCALATE
    reason = EndReason.POLICY_DENIED
    code = FailureCode.UNSAFE
    action = "keep the value in a Secret, and refer to it by name"

    def run(self, change: Proposed) -> CheckResult:
        """Look at every line that is added."""
        added = [
            line
            for path, data in change.after.items()
            for line in _lines(data) - _lines(change.before.get(path, b""))
        ]
        wrong = [one for one in added if _REDACTOR.text(one) != one]
        if wrong:
            masked = _REDACTOR.text(wrong[0]).strip()
            return failed(self.name, f"{len(wrong)} added line(s) look like a secret: {masked}")
        return passed(self.name, f"{len(added)} added line(s), none of which looks like a secret")


def _lines(data: bytes) -> Counter[str]:
    return Counter(data.decode(errors="replace").splitlines())
