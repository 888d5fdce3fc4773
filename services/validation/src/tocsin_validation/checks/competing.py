"""Do others propose something for the same field?"""

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed, untold
from tocsin_validation.facts import Rival
from tocsin_validation.ports import Consequence, Proposed


class NoCompetingPull:
    """Two open pull requests on one field contradict each other: people have to see both.

    Where it cannot be read what another one changes, the same file is reason enough.
    """

    name = "no-competing-pull-request"
    severity = CheckSeverity.MINOR
    needs = "the open pull requests, the files they touch, and what they make of them"
    consequence = Consequence.WITH_CARE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.CONFLICT
    action = "read the other pull request before deciding on this one"

    def run(self, change: Proposed) -> CheckResult:
        """Name those of other branches that change a field of the change, or may."""
        competing = change.around.competing
        if competing.value is None:
            return untold(self.name, competing)
        wrong = [_told(one) for one in competing.value if one.same_field is not False]
        if wrong:
            return failed(self.name, "; ".join(wrong))
        if others := ", ".join(one.url for one in competing.value):
            return passed(self.name, f"open on the same file, but on other fields: {others}")
        return passed(self.name, "no other open pull request touches the file")


def _told(one: Rival) -> str:
    if one.same_field:
        return f"open on the same field: {one.url}"
    return f"open on the same file, and what it changes there cannot be told: {one.url}"
