"""The limits of a call, a run, a source of alerts and a day, as an operator sets them."""

from decimal import Decimal
from enum import StrEnum

from pydantic import Field

from tocsin_contracts import Amounts
from tocsin_contracts.base import Value


class CallLimit(Value):
    """What one call of a model may take; `tool_calls` is how many tools one answer may ask for.

    The seconds hold for all tries and fallbacks together, so they leave room for more than one;
    those of a tool are more than what tools, servers and agents elsewhere give themselves.
    """

    tokens: int = Field(default=100_000, ge=256, description="Of the question and its answer.")
    answer_tokens: int = Field(default=4096, ge=1)
    seconds: float = Field(default=600, gt=0)
    idle_seconds: float = Field(default=120, gt=0, description="Without any sign of an answer.")
    money: Decimal | None = Field(default=None, ge=0)
    tool_calls: int = Field(default=8, ge=1)
    tool_seconds: float = Field(default=150, gt=0, description="Of one call of a tool.")


class Limit(Value):
    """The most of each measure; None is no limit. Money is in US dollars."""

    model_calls: int | None = Field(default=None, ge=0)
    tool_calls: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)
    money: Decimal | None = Field(default=None, ge=0)

    def extended(self, more: Amounts) -> "Limit":
        """Return the limit with so much more of each measure that it limits."""
        changed = {
            name: most + getattr(more, name)
            for name in Limit.model_fields
            if (most := getattr(self, name)) is not None
        }
        return self.model_copy(update=changed)

    def shared(self, by: int) -> "Limit":
        """Return the limit that so many may use up at once without passing this one together."""
        changed = {
            name: most // by if isinstance(most, int) else most / by
            for name in Limit.model_fields
            if (most := getattr(self, name)) is not None
        }
        return self.model_copy(update=changed)


class UnknownPrice(StrEnum):
    """What a limit of money does once a call had a price that nobody knows.

    `count` goes on by what is known, and the tokens hold. `refuse` makes no further call.
    """

    COUNT = "count"
    REFUSE = "refuse"


class Limits(Value):
    """All limits of one run. `soft` is the share of the run's limit at which people are asked.

    `same_call` is how often one run may make the very same call; `transfers` how often it may go
    from one agent to another.
    """

    call: CallLimit = CallLimit()
    run: Limit = Limit(model_calls=25, tool_calls=60, tokens=500_000, seconds=900)
    source: Limit = Limit()
    day: Limit = Limit()
    same_call: int = Field(default=3, ge=1)
    transfers: int = Field(default=5, ge=0)
    soft: float | None = Field(default=0.8, gt=0, le=1)
    unknown_price: UnknownPrice = UnknownPrice.COUNT

    @property
    def of_money(self) -> bool:
        """Whether any of them is of money."""
        every = (self.call.money, self.run.money, self.source.money, self.day.money)
        return any(most is not None for most in every)
