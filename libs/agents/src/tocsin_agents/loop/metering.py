"""What a run has left: looked at before every call, counted after it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tocsin_agents.limits.budgets import Limit, Limits
from tocsin_agents.limits.checking import too_dear, unpriced, used_up
from tocsin_agents.limits.ledger import Ledger
from tocsin_contracts import Amounts, BudgetScope, Exhausted
from tocsin_kit.spending import Spending


@dataclass(frozen=True, slots=True)
class Account:
    """A limit, and what was spent of it."""

    limit: Limit
    spent: Spending
    scope: BudgetScope


@dataclass(frozen=True, slots=True)
class Meter:
    """The limits and the ledger that counts across runs."""

    limits: Limits
    ledger: Ledger

    def of_run(self, extended: Amounts) -> Limit:
        """Return the run's limit with what people added."""
        return self.limits.run.extended(extended)

    async def accounts(
        self, spent: Spending, extended: Amounts, source: str
    ) -> tuple[Account, ...]:
        """Return what a call of a model is paid from."""
        of_source, of_day = await self.ledger.today(source)
        of_run = self.of_run(extended).model_copy(update={"tool_calls": None})
        return (
            Account(of_run, spent, BudgetScope.RUN),
            Account(self.limits.source, of_source, BudgetScope.SOURCE),
            Account(self.limits.day, of_day, BudgetScope.DAY),
        )

    def hard(self, accounts: Sequence[Account]) -> Exhausted | None:
        """Return the limit that allows no further call of a model, if one does."""
        for one in accounts:
            over = used_up(one.limit, one.spent, one.scope)
            over = over or self._unpriced(one.limit, one.spent, one.scope)
            if over:
                return over
        return None

    def too_dear(self, accounts: Sequence[Account], least: Decimal) -> Exhausted | None:
        """Return the limit of money that does not allow a call which costs so much at least."""
        call = Account(Limit(money=self.limits.call.money), Spending(), BudgetScope.CALL)
        overs = (too_dear(one.limit, one.spent, one.scope, least) for one in (call, *accounts))
        return next((over for over in overs if over), None)

    def last(self, spent: Spending, extended: Amounts) -> Exhausted | None:
        """Return the limit of the run that leaves room for a last answer only, if one does."""
        limit, after = self.of_run(extended), spent + Spending(model_calls=1)
        calls = Limit(model_calls=limit.model_calls, tool_calls=limit.tool_calls)
        return used_up(calls, after, BudgetScope.RUN)

    def soft(self, spent: Spending, extended: Amounts) -> Exhausted | None:
        """Return the limit of the run that is nearly reached, if people are to be asked."""
        if self.limits.soft is None:
            return None
        return used_up(self.of_run(extended), spent, BudgetScope.RUN, self.limits.soft)

    async def count(self, source: str, spent: Spending) -> None:
        """Count across runs what a step of this run has spent."""
        await self.ledger.count(source, spent)

    def _unpriced(self, limit: Limit, used: Spending, scope: BudgetScope) -> Exhausted | None:
        return unpriced(limit, used, scope, self.limits.unknown_price)
