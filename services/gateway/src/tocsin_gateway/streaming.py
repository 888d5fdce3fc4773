"""Answers that go on for as long as somebody listens, each in a place that is counted."""

from collections.abc import AsyncGenerator, Callable

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Stream(StreamingResponse):
    """An answer that goes on; however it ends, and if it never begins, its place is given back."""

    def __init__(self, frames: AsyncGenerator[str, None], leave: Callable[[], None]) -> None:
        super().__init__(frames, media_type="text/event-stream", headers=HEADERS)
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()
