"""Can pods still be moved, with the disruption budgets as they are?"""

from collections.abc import Iterator, Sequence
from functools import partial

from tocsin_cluster.manifest import Manifest, dig, texts
from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed, unknown, untold
from tocsin_validation.outlook import amounts, preview
from tocsin_validation.ports import Consequence, Proposed

_KIND = "PodDisruptionBudget"


class BudgetLeavesRoom:
    """A budget that keeps as many pods as there are blocks every drain of a node.

    Where other amounts replace pods, one that the rollout does not heed is told of.
    """

    name = "disruption-budget-leaves-room"
    severity = CheckSeverity.MINOR
    needs = "the object and the PodDisruptionBudgets, if the number of pods or amounts change"
    consequence = Consequence.WITH_CARE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.CONFLICT
    action = "lower minAvailable of the budget with it"

    def run(self, change: Proposed) -> CheckResult:
        """Compare what budgets keep with how many pods there will be."""
        finding = change.hypothesis.finding
        scales = any(one.path[-1:] == ("replicas",) for one in finding.changes)
        if not scales and not any("resources" in one.path for one in finding.changes):
            return passed(self.name, "the number of pods stays as it is")
        budgets, states = change.around.budgets, preview.states(change)
        if states is None:
            return unknown(self.name, "the object is not known as a whole", FailureCode.NOT_FOUND)
        if budgets.value is None:
            return untold(self.name, budgets)
        mine = [one for one in budgets.value if _covers(one, states[1])]
        return self._judged(mine, states[1], scales=scales)

    def _judged(self, mine: Sequence[Manifest], workload: Manifest, *, scales: bool) -> CheckResult:
        pods = amounts.replicas(workload)
        if pods is None:
            return unknown(self.name, "how many pods there are is not told", FailureCode.NOT_FOUND)
        blocks = _blocks if scales else partial(_is_passed_by, taken=_taken(workload, pods))
        wrong = [why for one in mine if not _is_unclear(one) for why in blocks(one, pods)]
        if wrong:
            return failed(self.name, "; ".join(wrong))
        if maybe := [why for one in mine for why in blocks(one, pods)]:
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


def _is_passed_by(budget: Manifest, pods: int, taken: int) -> Iterator[str]:
    """A rollout is no eviction: it takes pods away whatever a budget keeps."""
    kept = _number(budget.dig("spec", "minAvailable"), pods)
    lost = _number(budget.dig("spec", "maxUnavailable"), pods)
    if kept is None and lost is not None:
        kept = pods - lost
    if taken and kept is not None and pods - taken < kept:
        name = f"{_KIND} {budget.ref.name}"
        yield (
            f"{name} keeps {kept} of {pods} pod(s), and does not hold back the rollout, "
            f"which takes {taken} at once"
        )


def _taken(workload: Manifest, pods: int) -> int:
    """Return how many pods a rollout of another template may take away at once."""
    kind = workload.ref.kind
    if kind == "Deployment":
        if workload.dig("spec", "strategy", "type") == "Recreate":
            return pods
        most = workload.dig("spec", "strategy", "rollingUpdate", "maxUnavailable")
        return _floor("25%" if most is None else most, pods)
    how = workload.dig("spec", "updateStrategy", "type")
    if kind not in ("StatefulSet", "DaemonSet") or how == "OnDelete":
        return 0
    most = workload.dig("spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
    return 1 if most is None else max(1, _number(most, pods) or 0)


def _floor(value: object, pods: int) -> int:
    """Return a number or a share of pods, rounded down as a Deployment does."""
    if isinstance(value, str) and value.endswith("%") and value[:-1].isdigit():
        return int(value[:-1]) * pods // 100
    return _number(value, pods) or 0


def _number(value: object, pods: int) -> int | None:
    """Return a number or a share of pods, rounded up as a cluster does."""
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.removesuffix("%").isdigit():
        whole = int(value.removesuffix("%"))
        return -(-whole * pods // 100) if value.endswith("%") else whole
    return None
