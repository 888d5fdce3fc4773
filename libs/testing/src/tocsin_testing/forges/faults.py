"""What can go wrong between a forge and who asks it, at a request that a test chooses."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tocsin_testing.forges.web import Fake, handle

Answer = Callable[[httpx.Request], httpx.Response]


def answering(
    status: int, message: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Answer:
    """Return a fault: the forge refuses, and does nothing."""
    body = json.dumps({"message": message, **more}).encode()
    return lambda request: httpx.Response(status, headers=headers, content=body, request=request)


def timeout(request: httpx.Request) -> httpx.Response:
    """Stand for a forge that never hears the request."""
    raise httpx.ConnectTimeout("nobody answers", request=request)


def lost(request: httpx.Request) -> httpx.Response:
    """Stand for a forge that did what it was asked, and whose answer never came."""
    raise httpx.ReadTimeout("no answer", request=request)


FAULTS: Mapping[str, Answer] = {
    "timeout": timeout,
    "lost": lost,
    "409": answering(409, "Conflict"),
    "422": answering(422, "Validation Failed"),
    "429": answering(429, "Slow down", {"retry-after": "7"}),
    "403-rate": answering(403, "You have exceeded a secondary rate limit"),
    "500": answering(500, "Oops"),
}

_ALWAYS = ("timeout", "lost")
ROWS = [name if name in _ALWAYS else pytest.param(name, marks=pytest.mark.e2e) for name in FAULTS]
"""All faults for a test of each request: those that leave nothing or everything done are quick
enough for every run, the others come with the tests that take long."""


@dataclass
class Wire(httpx.AsyncBaseTransport):
    """The way to a fake in this process; the request of one position, from 0, fails on it.

    `seen` keeps what was sent and `heard` what the fake answered; `before` is called with each
    request, before any of it.
    """

    fake: Fake
    position: int = -1
    fault: Answer = timeout
    before: Callable[[httpx.Request], None] = lambda _: None
    seen: list[httpx.Request] = field(default_factory=list)
    heard: list[httpx.Response] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as the forge does, or as the fault says."""
        await request.aread()
        await asyncio.sleep(0)
        self.seen.append(request)
        self.before(request)
        fails = len(self.seen) - 1 == self.position
        if fails and self.fault is not lost:
            return self.fault(request)
        target, body = request.url.raw_path.decode(), request.content
        status, headers, content = handle(self.fake, request.method, target, request.headers, body)
        answer = httpx.Response(status, headers=headers, content=content, request=request)
        self.heard.append(answer)
        return self.fault(request) if fails else answer
