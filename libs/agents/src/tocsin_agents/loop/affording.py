"""Whether there is money for a call of a model, looked at before it is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.metering import Account
from tocsin_agents.loop.prompting import asked
from tocsin_agents.models.port import Model, Question
from tocsin_contracts import Exhausted
from tocsin_kit import logging

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Unaffordable:
    """A limit that a call would pass, and what it costs at least in US dollars."""

    over: Exhausted
    least: Decimal

    def __str__(self) -> str:
        """Say both."""
        return f"{self.over}, and the next call costs {self.least:f} at least"


@dataclass(frozen=True, slots=True)
class Affording:
    """Compares what a call costs at least with the money that is left."""

    engine: Engine

    async def refusal(
        self, model: Model, question: Question, accounts: Sequence[Account]
    ) -> Unaffordable | None:
        """Return why a call is not made, if it is not; a price that nobody knows stops no call."""
        if not self.engine.limits.of_money:
            return None
        price = await model.price()
        least = price.least(asked(question)) if price else None
        if least is None:
            self._unknown(model.name)
            return None
        over = self.engine.meter.too_dear(accounts, least)
        return Unaffordable(over, least) if over else None

    def _unknown(self, model: str) -> None:
        """Say once what limits of money cannot see."""
        if model not in self.engine.unpriced:
            self.engine.unpriced.add(model)
            log.warning("agents.price_unknown", model=model, remedy="set TOCSIN_MODEL_PRICES")
