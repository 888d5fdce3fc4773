"""What is done with alerts while the bus or the run store is away: they wait on disk, in order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from pydantic import ValidationError

from tocsin_contracts import Alert
from tocsin_ingest.ports import Taker
from tocsin_kit import logging
from tocsin_kit.errors import FullError, PermanentError, TransientError
from tocsin_kit.intake import Admission, Outcome
from tocsin_kit.spool import Spool

AT_ONCE = 64
"""How many alerts that waited are handed on together."""

log = logging.get(__name__)


class Spooling:
    """Takes alerts to the servers, or to the disk; what waits there goes first.

    Raises TransientError when neither takes them. `probe` raises it while the bus is away: of what
    the run store alone has taken, only the disk is sure.

    While `has_room` says no, nothing new goes to the disk: it would only wait for the same room.
    What is there was promised; it goes to `promised`, which refuses no new run.
    """

    def __init__(
        self,
        receiver: Taker,
        spool: Spool,
        probe: Callable[[], Awaitable[None]],
        *,
        promised: Taker | None = None,
        has_room: Callable[[], bool] = lambda: True,
    ) -> None:
        self._receiver = receiver
        self._promised = promised or receiver
        self._spool = spool
        self._probe = probe
        self._has_room = has_room

    async def take_all(self, alerts: Sequence[Alert]) -> list[Admission]:
        """Take the alerts of one request; of spooled ones the run is not known yet."""
        if not self._spool.waiting:
            try:
                return await self._receiver.take_all(alerts)
            except FullError:
                raise
            except TransientError as error:
                log.warning("ingest.spooling", why=str(error), alerts=len(alerts))
        if not self._has_room():
            raise FullError("nothing waits on the disk while the stream of facts is nearly full")
        await self._spool.append([alert.model_dump_json().encode() for alert in alerts])
        return [Admission(Outcome.SPOOLED, None, None)] * len(alerts)

    async def keep_draining(self, every: float) -> None:
        """Hand on what waits whenever the servers take it, until cancelled."""
        while True:
            await asyncio.sleep(every)
            try:
                if handed_on := await self.drain():
                    log.info("ingest.spool_drained", alerts=handed_on)
            except TransientError as error:
                log.warning("ingest.spool_waits", why=str(error), alerts=self._spool.waiting)

    async def drain(self) -> int:
        """Hand on all that waits, the oldest first; returns how many alerts that were.

        An alert is taken from the disk after the servers have it: a kill hands it on twice.
        """
        if not self._spool.waiting:
            return 0
        await self._probe()
        count = 0
        while records := await self._spool.peek(AT_ONCE):
            await self._hand_on([alert for record in records if (alert := _read(record))])
            await self._spool.take(len(records))
            count += len(records)
        return count

    async def _hand_on(self, alerts: Sequence[Alert]) -> None:
        try:
            await self._promised.take_all(alerts)
        except PermanentError:
            if len(alerts) == 1:
                log.exception("ingest.spooled_alert_refused", title=alerts[0].title)
                return
            for alert in alerts:
                await self._hand_on([alert])


def _read(record: bytes) -> Alert | None:
    try:
        return Alert.model_validate_json(record)
    except ValidationError:
        log.exception("ingest.spooled_alert_unreadable")
        return None
