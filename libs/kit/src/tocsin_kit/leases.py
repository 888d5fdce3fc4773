"""Work under a lease: it is renewed meanwhile, and the work stops when it is lost or cancelled."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from types import TracebackType

from tocsin_kit.errors import TocsinError, TransientError
from tocsin_kit.runs import Lease, Renewal, RunStore

_CURRENT: ContextVar[Lease | None] = ContextVar("tocsin_lease", default=None)


class RunCancelledError(Exception):
    """A person asked the run to stop while a handler worked on it."""


def current() -> Lease | None:
    """Return the lease that the running handler works under; None outside a handler."""
    return _CURRENT.get()


@asynccontextmanager
async def held(
    runs: RunStore, lease: Lease, every: float, *, stoppable: bool
) -> AsyncIterator[None]:
    """Renew the lease every so many seconds while the block runs.

    Raises TransientError in the block when the lease is lost, and RunCancelledError when the run
    was asked to stop and the block is stoppable.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a lease is held by a task")
    ended: list[Renewal] = []

    async def beat() -> None:
        while not ended:
            await asyncio.sleep(every)
            with suppress(TransientError):
                found = await runs.renew(lease)
                if found is Renewal.LOST or (found is Renewal.CANCELLED and stoppable):
                    ended.append(found)
                    task.cancel()

    token, beating = _CURRENT.set(lease), asyncio.create_task(beat())
    try:
        yield
    except asyncio.CancelledError:
        if not ended:
            raise
        task.uncancel()
        if ended[0] is Renewal.CANCELLED:
            raise RunCancelledError(lease.run_id) from None
        raise TransientError(f"lease on run {lease.run_id!r} was lost") from None
    finally:
        _CURRENT.reset(token)
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating


class GivenBack:
    """Gives a lease back when the work under it raises; a result gives it back by its commit.

    The attempt counts unless it was nobody's fault: the outside did not answer, a person stopped
    the run, or this process ends.
    """

    def __init__(self, runs: RunStore, lease: Lease) -> None:
        self._runs = runs
        self._lease = lease

    async def __aenter__(self) -> None:
        """Nothing to do: the lease is held already."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release it with the cause; the exception goes on."""
        if error is not None:
            blameless = isinstance(error, _BLAMELESS)
            await self._runs.release(self._lease, counted=not blameless, cause=_cause(error))


_BLAMELESS = (TransientError, RunCancelledError, asyncio.CancelledError)


def _cause(error: BaseException) -> str:
    """Say why; what a bug has to say is only for the log, since it may quote anything."""
    return str(error) if isinstance(error, TocsinError) else f"a bug: {type(error).__name__}"
