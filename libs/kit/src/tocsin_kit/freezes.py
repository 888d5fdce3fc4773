"""Ask triage, which knows the operator's windows, whether changes have to wait right now."""

import asyncio

from tocsin_contracts import Alert
from tocsin_contracts.freezes import FreezeAnswer, FreezeAsked
from tocsin_kit.asking import ask
from tocsin_kit.bus import Bus

SECONDS = 3.0
TRIES, PAUSE_SECONDS = 3, 0.3
"""A triage that starts anew is not heard for a moment."""


class Freezes:
    """Knows no window itself, so that no two services can know different ones."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def now(self, alert: Alert) -> str | None:
        """Return the freeze that holds for an alert, empty without one; None if nobody says."""
        asked = FreezeAsked(alert=alert)
        for again in range(TRIES):
            await asyncio.sleep(PAUSE_SECONDS if again else 0)
            if answer := await ask(self._bus, asked.subject, asked, FreezeAnswer, SECONDS):
                return answer.freeze
        return None
