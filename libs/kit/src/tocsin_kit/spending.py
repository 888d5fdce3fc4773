"""What model and tool calls have used, in numbers that add up."""

from decimal import Decimal

from pydantic import Field

from tocsin_contracts.base import Value


class Spending(Value):
    """Calls, tokens, seconds and US dollars. `money` is what is known of the price.

    `unpriced` counts the calls whose price nobody knows: with any, `money` is only the least.
    """

    model_calls: int = Field(default=0, ge=0)
    tool_calls: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0, ge=0)
    money: Decimal = Field(default=Decimal(0), ge=0)
    unpriced: int = Field(default=0, ge=0)

    @property
    def price(self) -> Decimal | None:
        """The money, or None where a part of it is unknown: unknown is not zero."""
        return None if self.unpriced else self.money

    def __add__(self, other: "Spending") -> "Spending":
        """Return both together."""
        return Spending(
            model_calls=self.model_calls + other.model_calls,
            tool_calls=self.tool_calls + other.tool_calls,
            tokens=self.tokens + other.tokens,
            seconds=self.seconds + other.seconds,
            money=self.money + other.money,
            unpriced=self.unpriced + other.unpriced,
        )
