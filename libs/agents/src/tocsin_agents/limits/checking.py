"""Whether a spending has reached a limit: pure arithmetic, before every call."""

from collections.abc import Iterator
from decimal import Decimal

from tocsin_agents.limits.budgets import Limit, UnknownPrice
from tocsin_contracts import BudgetScope, Exhausted, Measure
from tocsin_kit.spending import Spending


def used_up(
    limit: Limit, spent: Spending, scope: BudgetScope, share: float = 1.0
) -> Exhausted | None:
    """Return the first measure of which the share of its limit is spent; a limit of 0 always is."""
    for measure, used, most in _measured(limit, spent):
        if used >= most * Decimal(str(share)):
            return Exhausted(measure=measure, scope=scope, used=used, limit=most)
    return None


def too_dear(limit: Limit, spent: Spending, scope: BudgetScope, least: Decimal) -> Exhausted | None:
    """Return the limit of money of which less is left than a call costs at least."""
    used = Decimal(spent.money)
    if limit.money is None or used + least <= limit.money:
        return None
    return Exhausted(measure=Measure.MONEY, scope=scope, used=used, limit=limit.money)


def unpriced(
    limit: Limit, spent: Spending, scope: BudgetScope, policy: UnknownPrice
) -> Exhausted | None:
    """Return that a limit of money cannot be kept, as a price is unknown and the policy refuses."""
    if policy is UnknownPrice.COUNT or limit.money is None or not spent.unpriced:
        return None
    return Exhausted(
        measure=Measure.PRICE, scope=scope, used=Decimal(spent.unpriced), limit=Decimal(0)
    )


def _measured(limit: Limit, spent: Spending) -> Iterator[tuple[Measure, Decimal, Decimal]]:
    pairs = (
        (Measure.MODEL_CALLS, spent.model_calls, limit.model_calls),
        (Measure.TOOL_CALLS, spent.tool_calls, limit.tool_calls),
        (Measure.TOKENS, spent.tokens, limit.tokens),
        (Measure.SECONDS, spent.seconds, limit.seconds),
        (Measure.MONEY, spent.money, limit.money),
    )
    for measure, used, most in pairs:
        if most is not None:
            yield measure, Decimal(str(used)), Decimal(str(most))
