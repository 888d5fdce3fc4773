"""Work under a lease: it is renewed meanwhile, and the work stops when it is lost or cancelled."""

import asyncio
from contextlib import suppress
from contextvars import ContextVar, Token
from types import TracebackType

from tocsin_kit.errors import TocsinError, TransientError
from tocsin_kit.runs import Lease, Renewal, RunStore

_CURRENT: ContextVar[Lease | None] = ContextVar("tocsin_lease", default=None)


class RunCancelledError(TransientError):
    """The run was asked to stop, or ended, while a handler worked on it."""


def current() -> Lease | None:
    """Return the lease that the running handler works under; None outside a handler."""
    return _CURRENT.get()


class Held:
    """Renews a lease every so many seconds while the block runs.

    Ends the block with TransientError when the lease is lost, and with RunCancelledError when the
    run was asked to stop or has ended and the block is stoppable. When the block raises, the lease
    is given back with the cause; the attempt counts unless it was nobody's fault. A block that ends
    well keeps the lease for its commit.
    """

    def __init__(self, runs: RunStore, lease: Lease, every: float, *, stoppable: bool) -> None:
        self._runs = runs
        self._lease = lease
        self._every = every
        self._stoppable = stoppable
        self._ended: Renewal | None = None

    async def __aenter__(self) -> None:
        """Start to renew."""
        self._token: Token[Lease | None] = _CURRENT.set(self._lease)
        self._beating = asyncio.create_task(self._beat(asyncio.current_task()))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop renewing; say what ended the block, and give the lease back if it failed."""
        _CURRENT.reset(self._token)
        await self._stop_beating()
        found = self._explained(error)
        if found is not None:
            blameless = isinstance(found, (TransientError, asyncio.CancelledError))
            await self._runs.release(self._lease, counted=not blameless, cause=_cause(found))
        if found is not error and found is not None:
            raise found from None

    async def _beat(self, worker: asyncio.Task[object] | None) -> None:
        while self._ended is None:
            await asyncio.sleep(self._every)
            with suppress(TransientError):
                found = await self._runs.renew(self._lease)
                if found is Renewal.LOST or (found is Renewal.CANCELLED and self._stoppable):
                    self._ended = found
                    if worker is not None:
                        worker.cancel()

    async def _stop_beating(self) -> None:
        self._beating.cancel()
        try:
            await asyncio.wait([self._beating])
        except asyncio.CancelledError:
            if self._ended is None:
                raise
        task = asyncio.current_task()
        if self._ended is not None and task is not None:
            task.uncancel()

    def _explained(self, error: BaseException | None) -> BaseException | None:
        if self._ended is None or not isinstance(error, asyncio.CancelledError):
            return error
        if self._ended is Renewal.CANCELLED:
            return RunCancelledError("the run was asked to stop, or has ended")
        return TransientError(f"lease on run {self._lease.run_id!r} was lost")


def _cause(error: BaseException) -> str:
    """Say why; what a bug has to say is only for the log, since it may quote anything."""
    return str(error) if isinstance(error, TocsinError) else f"a bug: {type(error).__name__}"
