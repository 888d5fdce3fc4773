"""Can pods still be moved, with the disruption budgets as they are?"""

from collections.abc import Iterator, Sequence

from tocsin_cluster.manifest import Manifest, dig, texts
from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed, unknown, untold
from tocsin_validation.outlook import amounts, preview
from tocsin_validation.ports import Consequence, Proposed

_KIND = "PodDisruptionBudget"


class BudgetLeavesRoom:
    """A budget that keeps as many pods as there are blocks every drain of a node."""

    name = "disruption-budget-leaves-room"
    severity = CheckSeverity.MINOR
    needs = "the object and the PodDisruptionBudgets, if the number of pods changes"
    consequence = Consequence.WITH_CARE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.CONFLICT
    action = "lower minAvailable of the budget with it"

    def run(self, change: Proposed) -> CheckResult:
        """Compare what budgets keep with how many pods there will be."""
        finding = change.hypothesis.finding
        if not any(one.path[-1:] == ("replicas",) for one in finding.changes):
            return passed(self.name, "the number of pods stays as it is")
        budgets, states = change.around.budgets, preview.states(change)
        if states is None:
            return unknown(self.name, "the object is not known as a whole", FailureCode.NOT_FOUND)
        if budgets.value is None:
            return untold(self.name, budgets)
        mine = [one for one in budgets.value if _covers(one, states[1])]
        return self._judged(mine, amounts.replicas(states[1]))

    def _judged(self, mine: Sequence[Manifest], pods: int | None) -> CheckResult:
        if pods is None:
            return unknown(self.name, "how many pods there are is not told", FailureCode.NOT_FOUND)
        wrong = [why for one in mine if not _is_unclear(one) for why in _blocks(one, pods)]
        if wrong:
            return failed(self.name, "; ".join(wrong))
        if maybe := [why for one in mine for why in _blocks(one, pods)]:
            told = f"it may be for other pods, but {'; '.join(maybe)}"
            return unknown(self.name, told, FailureCode.UNSUPPORTED)
        return passed(self.name, f"{len(mine)} budget(s) for {pods} pod(s)")


def _covers(budget: Manifest, workload: Manifest) -> bool:
    """Whether it may be for these pods: one that selects by nothing is for all of a namespace."""
    wanted = texts(budget.dig("spec", "selector", "matchLabels")).items()
    labels = texts(dig(workload.template, "metadata", "labels")).items()
    return budget.dig("spec", "selector") is not None and wanted <= labels


def _is_unclear(budget: Manifest) -> bool:
    return bool(budget.dig("spec", "selector", "matchExpressions"))


def _blocks(budget: Manifest, pods: int) -> Iterator[str]:
    kept = budget.dig("spec", "minAvailable")
    lost = budget.dig("spec", "maxUnavailable")
    name = f"{_KIND} {budget.ref.name}"
    if _number(kept, pods) is not None and (_number(kept, pods) or 0) >= pods:
        yield f"{name} keeps {kept} of {pods} pod(s): none can ever be moved"
    if lost in (0, "0", "0%"):
        yield f"{name} lets none of {pods} pod(s) go"


def _number(value: object, pods: int) -> int | None:
    """Return a number or a share of pods, rounded up as a cluster does."""
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.removesuffix("%").isdigit():
        whole = int(value.removesuffix("%"))
        return -(-whole * pods // 100) if value.endswith("%") else whole
    return None
