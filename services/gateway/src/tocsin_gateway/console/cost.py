"""What asking models has cost, by day, model and source, added up from the facts that say so."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import TypeVar

from tocsin_contracts import (
    Alert,
    BudgetExhausted,
    CommentAnswered,
    Event,
    HypothesisFormed,
    InvestigationInconclusive,
    ModelUse,
)
from tocsin_contracts.chat import ChatAnswered
from tocsin_kit.spending import Spending

SPENDS: tuple[type[Event], ...] = (
    BudgetExhausted,
    HypothesisFormed,
    InvestigationInconclusive,
    CommentAnswered,
    ChatAnswered,
)
"""The facts that say what was used: an answer in a chat by itself, each other what its run has
used so far."""

K = TypeVar("K")
V = TypeVar("V")

MOST_RUNS = 10_000
MOST_BUCKETS = 20_000
NOBODY = "no model answered"
UNKNOWN = "not known"
CHAT = "questions in chats"


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where a spending belongs."""

    day: date
    model: str
    source: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table of costs."""

    name: str
    spent: Spending


class Costs:
    """Adds up; of so many runs it is known what they had used before."""

    def __init__(self, most_runs: int = MOST_RUNS) -> None:
        self._most = most_runs
        self._spent: OrderedDict[Bucket, Spending] = OrderedDict()
        self._used: OrderedDict[tuple[str, bool], ModelUse] = OrderedDict()
        self._sources: OrderedDict[str, str] = OrderedDict()

    def take(self, event: Event) -> None:
        """Add what a fact says was used since the fact before it."""
        alert = getattr(event, "alert", None)
        if isinstance(alert, Alert):
            _remember(self._sources, event.run_id, alert.source, self._most)
        use = getattr(event, "model_use", None)
        if not isinstance(event, SPENDS) or use is None:
            return
        before = getattr(event, "model_use_before", None)
        total = before + use if before else use
        chats = isinstance(event, ChatAnswered)
        key = (event.id if chats else event.run_id, isinstance(event, CommentAnswered))
        more = _more(total, self._used.get(key, ModelUse()))
        _remember(self._used, key, total, self._most)
        model = ", ".join(use.models) or NOBODY
        source = CHAT if chats else self._sources.get(event.run_id, UNKNOWN)
        bucket = Bucket(event.at.date(), model, source)
        _remember(self._spent, bucket, self._spent.get(bucket, Spending()) + more, MOST_BUCKETS)

    def days(self, until: date, count: int) -> list[tuple[date, Spending]]:
        """Return so many days up to one, the newest first; a day without any use is zero."""
        days = [until - timedelta(days=back) for back in range(count)]
        return [(day, _sum(s for b, s in self._spent.items() if b.day == day)) for day in days]

    def models(self, since: date) -> list[Row]:
        """Return what each model cost from a day on, the dearest first."""
        return self._rows(since, lambda bucket: bucket.model)

    def sources(self, since: date) -> list[Row]:
        """Return what the alerts of each source cost from a day on, the dearest first."""
        return self._rows(since, lambda bucket: bucket.source)

    def _rows(self, since: date, name: Callable[[Bucket], str]) -> list[Row]:
        sums: dict[str, Spending] = {}
        for bucket, spent in self._spent.items():
            if bucket.day >= since:
                sums[name(bucket)] = sums.get(name(bucket), Spending()) + spent
        rows = [Row(one, spent) for one, spent in sums.items()]
        return sorted(rows, key=lambda row: (row.spent.money, row.spent.tokens), reverse=True)


def _more(total: ModelUse, before: ModelUse) -> Spending:
    """Return what was used between two totals; a price that nobody knows stays unknown."""
    calls = max(0, total.model_calls - before.model_calls)
    known = None if total.cost is None else max(Decimal(0), total.cost - (before.cost or 0))
    return Spending(
        model_calls=calls,
        tool_calls=max(0, total.tool_calls - before.tool_calls),
        tokens=max(0, total.tokens - before.tokens),
        seconds=max(0.0, total.seconds - before.seconds),
        money=known or Decimal(0),
        unpriced=calls if known is None else 0,
    )


def _sum(spendings: Iterable[Spending]) -> Spending:
    return sum(spendings, Spending())


def _remember(known: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    known[key] = value
    known.move_to_end(key)
    if len(known) > most:
        known.popitem(last=False)
