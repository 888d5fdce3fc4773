"""Are the new amounts quantities, and such as somebody can mean?"""

from collections.abc import Iterator
from decimal import Decimal

from tocsin_contracts import (
    CheckResult,
    CheckSeverity,
    EndReason,
    FailureCode,
    FieldPath,
    Tree,
)
from tocsin_gitops import quantity
from tocsin_gitops.field_policy import parts
from tocsin_gitops.yaml_paths import path_text
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed

_LEAST = {"memory": Decimal(1024**2), "ephemeral-storage": Decimal(1024**2), "storage": Decimal(1)}
"""Below this a unit is missing or wrong: 128m of memory is less than a byte."""

_COUNTS = ("replicas", "minReplicas", "maxReplicas")


class QuantitiesAreSound:
    """An amount has the form of a quantity and a unit that fits; nothing is scaled to none."""

    name = "quantities-are-sound"
    severity = CheckSeverity.CRITICAL
    needs = "the edits"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.SCHEMA_INVALID
    action = "write the amount with its unit, such as 256Mi or 500m"

    def run(self, change: Proposed) -> CheckResult:
        """Read every new amount and every new number of pods."""
        found = [part for edit in change.edits for part in parts(edit) if part.new is not None]
        wrong = [why for part in found for why in _wrong(part.path, part.new)]
        if wrong:
            return failed(self.name, "; ".join(wrong))
        amounts = sum(_is_amount(part.path) or _is_count(part.path) for part in found)
        return passed(self.name, f"{amounts} amount(s) or number(s) of pods")


def _wrong(path: FieldPath, new: Tree) -> Iterator[str]:
    where = path_text(path)
    if _is_count(path) and (type(new) is not int or new < 1):
        yield f"{where} would be {new!r}: never fewer than 1"
    if not _is_amount(path):
        return
    try:
        size = quantity.parse(new) if isinstance(new, str | int | float) else None
    except quantity.NotAQuantity as error:
        yield f"{where}: {error}"
        return
    least = _LEAST.get(str(path[-1]), Decimal(0))
    if size is None or size <= 0 or size < least:
        yield f"{where} would be {new!r}, which is too little to be meant"


def _is_amount(path: FieldPath) -> bool:
    return "resources" in path and bool({"limits", "requests"} & set(path[:-1]))


def _is_count(path: FieldPath) -> bool:
    return path[-1:] != () and path[-1] in _COUNTS
