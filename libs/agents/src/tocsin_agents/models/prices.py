"""What a call costs: by the operator's own prices, then by a public list, else nobody knows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

_MILLION = Decimal(1_000_000)
_TIER = re.compile(r"_above_(\d+)k_tokens$")


@dataclass(frozen=True, slots=True)
class Counted:
    """The tokens of one call: `cached` were read from a cache and `written` into it, of `input`."""

    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0


class Price(BaseModel):
    """US dollars for a million tokens; reading and writing a cache cost as much as input, if unset.

    `most_input` is the number of input tokens of one call above which the price is not known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached: Decimal | None = Field(default=None, ge=0)
    written: Decimal | None = Field(default=None, ge=0)
    most_input: int | None = Field(default=None, ge=1)

    def of(self, used: Counted) -> Decimal | None:
        """Return what so many tokens cost; None if nobody knows."""
        if self.most_input is not None and used.input > self.most_input:
            return None
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.written is None else self.written
        plain = max(0, used.input - used.cached - used.written)
        paid = plain * self.input + used.cached * cached + used.written * written
        return (paid + used.output * self.output) / _MILLION

    def least(self, tokens: int) -> Decimal | None:
        """Return the least that a call with so many tokens of input costs; None if nobody knows.

        That is all of them at the lowest price there is for input, and no answer.
        """
        if self.most_input is not None and tokens > self.most_input:
            return None
        rates = (self.input, self.cached, self.written)
        return tokens * min(rate for rate in rates if rate is not None) / _MILLION

    @classmethod
    def listed(cls, prices: Mapping[str, Mapping[str, Any]], model: str) -> Self | None:
        """Return the price of `provider/model` in a list of prices for one token; None without."""
        entry = prices.get(model) or _of_provider(prices, model)
        if not entry or entry.get("input_cost_per_token") is None:
            return None
        tiers = [int(found[1]) * 1000 for key in entry if (found := _TIER.search(key))]
        return cls(
            input=_million(entry, "input_cost_per_token") or Decimal(0),
            output=_million(entry, "output_cost_per_token") or Decimal(0),
            cached=_million(entry, "cache_read_input_token_cost"),
            written=_million(entry, "cache_creation_input_token_cost"),
            most_input=min(tiers, default=None),
        )


def _of_provider(prices: Mapping[str, Mapping[str, Any]], model: str) -> Mapping[str, Any] | None:
    """The list calls the models of some providers by their bare names."""
    provider, _, name = model.partition("/")
    entry = prices.get(name)
    whose = str(entry.get("litellm_provider", "")) if entry else ""
    return entry if provider and whose.startswith(provider) else None


def _million(entry: Mapping[str, Any], key: str) -> Decimal | None:
    value = entry.get(key)
    return None if value is None else Decimal(str(value)) * _MILLION
