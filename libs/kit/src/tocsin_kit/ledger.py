"""What all workers together have spent today, in all and for each source of alerts.

Counting is one atomic script, so no spending is lost or counted twice, whoever else counts. It is
looked at before a call and counted after it: calls that run at once may each pass the same look.
"""

from collections.abc import Sequence
from datetime import date
from decimal import ROUND_UP, Decimal
from typing import Any

from redis.asyncio import Redis

from tocsin_kit import keys
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.spending import Spending
from tocsin_kit.store import Script, translated

KEPT_SECONDS = 3 * 86_400
"""A day's accounts outlive the day in every time zone, and what people ask about yesterday."""

_NANO = Decimal("1e-9")
_MILLI = 1000


class RedisLedger:
    """The accounts of each day in UTC, on Redis or Valkey; they expire by themselves."""

    def __init__(self, client: Redis, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock or SystemClock()
        self._script = Script(client, "ledger")

    async def today(self, source: str) -> tuple[Spending, Spending]:
        """Return what the source, and everybody together, have spent today."""
        async with translated("look at what was spent today"):
            pipe = self._client.pipeline(transaction=False)
            for account in self._accounts(source):
                pipe.hgetall(account)
            of_source, of_day = await pipe.execute()
        return _spending(of_source), _spending(of_day)

    async def count(self, source: str, spent: Spending) -> tuple[Spending, Spending]:
        """Add a spending to the source's account and to the day's; return both."""
        args = [KEPT_SECONDS, *(part for pair in _whole(spent) for part in pair)]
        of_source, of_day = await self._script(self._accounts(source), args)
        return _spending(_pairs(of_source)), _spending(_pairs(of_day))

    def _accounts(self, source: str) -> list[str]:
        today: date = self._clock.now().date()
        return [keys.spent(today, source), keys.spent(today)]


def _whole(spent: Spending) -> list[tuple[str, int]]:
    """Return whole numbers, which add up exactly: nano-dollars, rounded up, and milliseconds."""
    return [
        ("model_calls", spent.model_calls),
        ("tool_calls", spent.tool_calls),
        ("tokens", spent.tokens),
        ("milliseconds", round(spent.seconds * _MILLI)),
        ("nanodollars", int((spent.money / _NANO).to_integral_value(ROUND_UP))),
        ("unpriced", spent.unpriced),
    ]


def _spending(found: dict[str, str]) -> Spending:
    counted = {name: int(value) for name, value in found.items()}
    return Spending(
        model_calls=counted.get("model_calls", 0),
        tool_calls=counted.get("tool_calls", 0),
        tokens=counted.get("tokens", 0),
        seconds=counted.get("milliseconds", 0) / _MILLI,
        money=counted.get("nanodollars", 0) * _NANO,
        unpriced=counted.get("unpriced", 0),
    )


def _pairs(flat: Sequence[Any]) -> dict[str, str]:
    return dict(zip(flat[::2], flat[1::2], strict=True))
