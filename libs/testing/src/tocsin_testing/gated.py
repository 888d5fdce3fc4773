"""A cluster that lets a test decide when it answers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tocsin_cluster.snapshot import SnapshotCluster


class GatedCluster:
    """A recorded cluster that answers once the gate is open, and says when it was asked first."""

    def __init__(self, inner: SnapshotCluster) -> None:
        self._inner = inner
        self.source, self.recorded_at = inner.source, inner.recorded_at
        self.asked, self.gate = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def ask(*args: Any, **options: Any) -> Any:
            self.asked.set()
            await self.gate.wait()
            return await getattr(self._inner, name)(*args, **options)

        return ask
