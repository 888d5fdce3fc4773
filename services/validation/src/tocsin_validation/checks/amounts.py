"""Does no container ask for more than it may take?"""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from tocsin_contracts import CheckResult, CheckSeverity, Edit, EndReason, FailureCode, Tree
from tocsin_gitops import manifests, quantity, trees
from tocsin_gitops.editing import EditRefused
from tocsin_gitops.yaml_paths import find
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.outlook import preview
from tocsin_validation.ports import Consequence, Proposed

_RESOURCES = "resources"


class RequestsWithinLimits:
    """A cluster refuses a pod that requests more than its limit, as far as one file says both."""

    name = "requests-within-limits"
    severity = CheckSeverity.MAJOR
    needs = "the file after the change"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.SCHEMA_INVALID
    action = "raise the limit together with the request"

    def run(self, change: Proposed) -> CheckResult:
        """Compare both in every container of which resources change."""
        edits = [edit for edit in change.edits if _RESOURCES in edit.at and edit.document]
        wrong = [why for edit in edits for why in _wrong(_held(change, edit))]
        if wrong:
            return failed(self.name, "; ".join(dict.fromkeys(wrong)))
        return passed(self.name, f"{len(edits)} edit(s) of resources, none beyond its limit")


def _held(change: Proposed, edit: Edit) -> Tree:
    """Return the resources after an edit, as the cluster will have them if it is made elsewhere."""
    if edit.renders is None:
        return _resources(edit, change.after.get(edit.file))
    made = preview.states(change)
    path = edit.at[: edit.at.index(_RESOURCES) + 1]
    found: Tree = preview.held(made[1].raw, path) if made else None
    return found


def _resources(edit: Edit, data: bytes | None) -> Tree:
    if data is None or edit.document is None:
        return None
    path = edit.path[: edit.path.index(_RESOURCES) + 1]
    try:
        document = manifests.meant(edit.file, data, edit.document)
        return trees.read(find(document.node, path))
    except EditRefused:
        return None


def _wrong(resources: Tree) -> Iterator[str]:
    limits, requests = (_amounts(resources, key) for key in ("limits", "requests"))
    for name in requests.keys() & limits.keys():
        if requests[name] > limits[name]:
            yield f"the request of {name} would be more than its limit"


def _amounts(resources: Tree, key: str) -> Mapping[str, Decimal]:
    held = resources.get(key) if isinstance(resources, dict) else None
    amounts = held if isinstance(held, dict) else {}
    return {name: size for name, one in amounts.items() if (size := _amount(one)) is not None}


def _amount(value: Tree) -> Decimal | None:
    if isinstance(value, dict | list):
        return None
    try:
        return quantity.parse(value)
    except quantity.NotAQuantity:
        return None
