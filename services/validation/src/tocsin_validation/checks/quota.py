"""Is there room in the quotas of the namespace?"""

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_validation.checks.verdicts import failed, passed, unknown, untold
from tocsin_validation.outlook import amounts
from tocsin_validation.outlook.amounts import Shift, size
from tocsin_validation.outlook.effects import shares
from tocsin_validation.ports import Consequence, Proposed


class QuotaHasRoom:
    """Pods beyond a quota are never started: the change would not help."""

    name = "quota-has-room"
    severity = CheckSeverity.MINOR
    needs = "the object and the ResourceQuotas of its namespace, if pods ask for more"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.OVER_CAPACITY
    action = "raise the quota first, or free what others hold"

    def run(self, change: Proposed) -> CheckResult:
        """Add what all pods ask for more to what is used."""
        shift, quotas = amounts.shift(change), change.around.quotas
        if not amounts.has_pods(change) or (shift and not shift.grows):
            return passed(self.name, "no pod asks for more")
        if shift is None:
            why = "what the pods ask for is not known as a whole"
            return unknown(self.name, why, FailureCode.NOT_FOUND)
        return untold(self.name, quotas) if quotas.value is None else self._room(change, shift)

    def _room(self, change: Proposed, shift: Shift) -> CheckResult:
        found = list(shares(change, shift))
        over = [one for one in found if one[2] + one[3] > one[4]]
        if over:
            told = (f"{key} of {name} by {size(u + m - h, key)}" for name, key, u, m, h in over)
            return failed(self.name, f"it would go beyond {', '.join(told)}")
        if blind := [
            quota.ref.name for quota in change.around.quotas.value or () if _unread(quota)
        ]:
            why = f"what is used of {', '.join(blind)} is not told"
            return unknown(self.name, why, FailureCode.NOT_FOUND)
        if not change.around.quotas.value:
            return passed(self.name, "the namespace has no quota")
        shown = [f"{key} of {n}: {round(100 * (u + m) / h)} %" for n, key, u, m, h in found if h]
        return passed(self.name, "; ".join(shown) or "no quota bounds what becomes more")


def _unread(quota: Manifest) -> bool:
    """A quota that nobody has counted yet bounds all the same."""
    bounded = quota.dig("spec", "hard") or {}
    used = quota.dig("status", "used") or {}
    return any(key not in used for key in bounded)
