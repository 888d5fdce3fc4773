"""What a NATS client does with the errors it meets in the background."""

import asyncio
from collections.abc import Callable


class ClientErrors:
    """Tells of each error; once the client is closed, the next one ends its reconnecting.

    Python before 3.12 can lose a cancellation inside `asyncio.wait_for` (python/cpython#86296). A
    client that reconnects when it is closed would then go on for ever, and with it the event loop.
    """

    def __init__(self, tell: Callable[[Exception], None]) -> None:
        self._tell = tell
        self._closed = False

    def close(self) -> None:
        """Say that the client is closed; whatever it still tries is over with its next error."""
        self._closed = True

    async def on_error(self, error: Exception) -> None:
        """Take one error; the client awaits this wherever it meets one."""
        if self._closed:
            raise asyncio.CancelledError
        self._tell(error)
