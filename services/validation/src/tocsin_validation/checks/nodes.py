"""Is there a node that has room for such a pod?"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from tocsin_cluster.manifest import Manifest, dig, texts
from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed, unknown, untold
from tocsin_validation.facts import Known
from tocsin_validation.outlook import amounts, preview
from tocsin_validation.ports import Consequence, Proposed

_ASKED = {"cpu": "requests.cpu", "memory": "requests.memory"}
_REPELS = ("NoSchedule", "NoExecute")
_DONE = ("Succeeded", "Failed")


class NodesHaveRoom:
    """A pod that asks for more than any node can give stays pending for ever."""

    name = "nodes-have-room"
    severity = CheckSeverity.MINOR
    needs = "the object, the nodes and the pods on them, if pods ask for more"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.OVER_CAPACITY
    action = "add a larger node, or ask for less"

    def run(self, change: Proposed) -> CheckResult:
        """Compare one pod with what each node can give, and with what is free there."""
        shift, states = amounts.shift(change), preview.states(change)
        if not amounts.has_pods(change) or (shift and not shift.grows):
            return passed(self.name, "no pod asks for more")
        if shift is None or states is None:
            why = "what the pods ask for is not known as a whole"
            return unknown(self.name, why, FailureCode.NOT_FOUND)
        nodes = change.around.nodes
        if not nodes.value:
            return unknown(self.name, nodes.why or "no node is seen", nodes.code)
        pod = {name: shift.after.pod[kind] for name, kind in _ASKED.items()}
        able = [one for one in nodes.value if _may_run(one, states[1]) and _fits(one, pod, ())]
        return self._room(able, len(nodes.value), pod, change.around.placed)

    def _room(
        self,
        able: Sequence[Manifest],
        nodes: int,
        pod: Mapping[str, Decimal],
        placed: Known[tuple[Manifest, ...]],
    ) -> CheckResult:
        if not able:
            return failed(self.name, f"none of {nodes} node(s) could ever run such a pod")
        if placed.value is None:
            return untold(self.name, placed)
        free = [one for one in able if _fits(one, pod, placed.value)]
        if not free:
            why = "no node has that much free now: a pod waits until one is added or emptied"
            return unknown(self.name, why, FailureCode.OVER_CAPACITY)
        return passed(self.name, f"{len(free)} of {nodes} node(s) have room for it now")


def _may_run(node: Manifest, workload: Manifest) -> bool:
    """Whether it takes pods at all, bears no taint against this one, and has what it asks for."""
    if node.dig("spec", "unschedulable"):
        return False
    ready = (c for c in node.items("status", "conditions") if c.get("type") == "Ready")
    wanted = texts(dig(workload.template, "spec", "nodeSelector")).items()
    borne = Manifest(workload.template).items("spec", "tolerations")
    against = [one for one in node.items("spec", "taints") if one.get("effect") in _REPELS]
    if any(not any(_tolerates(t, taint) for t in borne) for taint in against):
        return False
    return all(c.get("status") == "True" for c in ready) and wanted <= node.labels.items()


def _tolerates(toleration: Mapping[str, object], taint: Mapping[str, object]) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    key, exists = toleration.get("key"), toleration.get("operator") == "Exists"
    if not key:
        return exists
    same = (toleration.get("value") or "") == (taint.get("value") or "")
    return key == taint.get("key") and (exists or same)


def _fits(node: Manifest, pod: Mapping[str, Decimal], others: Sequence[Manifest]) -> bool:
    here = [
        one
        for one in others
        if one.dig("spec", "nodeName") == node.ref.name and one.dig("status", "phase") not in _DONE
    ]
    for name, kind in _ASKED.items():
        given = amounts.read(node.dig("status", "allocatable", name))
        if given is None or given - amounts.total(here, kind) < pod[name]:
            return False
    return True
