"""What an investigation may spend, when it has to ask for more, and who gave it how much."""

from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from tocsin_contracts.base import Value
from tocsin_contracts.event import Event
from tocsin_contracts.usage import ModelUse


class Measure(StrEnum):
    """What is counted. A price is exhausted when nobody knows it and the budget needs one."""

    MODEL_CALLS = "model_calls"
    TOOL_CALLS = "tool_calls"
    SAME_CALL = "same_call"
    TOKENS = "tokens"
    SECONDS = "seconds"
    MONEY = "money"
    PRICE = "price"


class BudgetScope(StrEnum):
    """Whose budget it is: one call's, one run's, one alert source's of a day, or the day's."""

    CALL = "call"
    RUN = "run"
    SOURCE = "source"
    DAY = "day"


class Exhausted(Value):
    """A measure that is used up, or so nearly that people are asked. Money is in US dollars."""

    measure: Measure
    scope: BudgetScope
    used: Decimal = Field(ge=0)
    limit: Decimal = Field(ge=0)

    def __str__(self) -> str:
        """Say it in a few words."""
        what = self.measure.value.replace("_", " ")
        return f"{what} of the {self.scope.value}: {self.used:f} of {self.limit:f}"


class Amounts(Value):
    """How much more of each measure is given; nothing by default."""

    model_calls: int = Field(default=0, ge=0)
    tool_calls: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0, ge=0)
    money: Decimal = Field(default=Decimal(0), ge=0, description="In US dollars.")

    def __add__(self, other: "Amounts") -> "Amounts":
        """Return both together."""
        return Amounts(
            model_calls=self.model_calls + other.model_calls,
            tool_calls=self.tool_calls + other.tool_calls,
            tokens=self.tokens + other.tokens,
            seconds=self.seconds + other.seconds,
            money=self.money + other.money,
        )


class Extension(Value):
    """A person's answer to a paused investigation: so much more, or end with what there is."""

    by: str
    surface: str = ""
    granted: bool = True
    amounts: Amounts = Amounts()
    reason: str = ""


class BudgetExhausted(Event):
    """An investigation nears a limit and waits: for more, or until the time to answer is over."""

    topic: ClassVar[str] = "rca.budget-exhausted.v1"

    agent: str
    exhausted: Exhausted
    attempt: int = Field(default=1, ge=1)
    so_far: str = Field(default="", description="What the agent said last.")
    model_use: ModelUse | None = None
    model_use_before: ModelUse | None = Field(
        default=None, description="What the attempts before this one used."
    )


class BudgetExtended(Event):
    """Somebody answered an investigation that waits; without `granted` it ends with what it has."""

    topic: ClassVar[str] = "run.budget-extended.v1"

    by: str
    surface: str = ""
    granted: bool = True
    amounts: Amounts = Amounts()
    reason: str = ""
    answers: str = Field(default="", description="Id of the BudgetExhausted that is answered.")

    @property
    def extension(self) -> Extension:
        """The answer as the agent is given it."""
        return Extension.model_validate(self.model_dump())
