"""A load generator that is cheaper than what it loads: raw sockets, one request in flight each."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

HEAD_END = b"\r\n\r\n"
LENGTH = b"content-length:"
ACCEPTED = 202


@dataclass(slots=True)
class Answers:
    """What became of the requests of one round."""

    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    last: bytes = b""

    @property
    def per_second(self) -> float:
        return len(self.waits) / self.seconds

    def wait(self, share: float) -> float:
        """The milliseconds within which this share of the requests was answered."""
        return 1000 * sorted(self.waits)[min(int(len(self.waits) * share), len(self.waits) - 1)]


class _Connection(asyncio.Protocol):
    def __init__(self, requests: Iterator[bytes], answers: Answers) -> None:
        self.done = asyncio.get_running_loop().create_future()
        self._requests = requests
        self._answers = answers
        self._read = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._read += data
        end = self._read.find(HEAD_END)
        if end < 0:
            return
        head = self._read[:end].lower()
        length = int(head.split(LENGTH, 1)[1].split(b"\r\n", 1)[0])
        if len(self._read) < end + len(HEAD_END) + length:
            return
        self._answers.waits.append(time.perf_counter() - self._sent)
        status = int(head[9:12])
        if status != ACCEPTED:
            self._answers.refused.append(status)
        self._answers.last = self._read
        self._read = b""
        self._next()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server hung up"))

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._sent = time.perf_counter()
        self._transport.write(request)


async def fire(port: int, requests: Iterator[bytes], connections: int) -> Answers:
    """Send every request over so many connections, each answered before its next."""
    answers, loop = Answers(), asyncio.get_running_loop()
    begun = time.perf_counter()
    made = [
        await loop.create_connection(lambda: _Connection(requests, answers), "127.0.0.1", port)
        for _ in range(connections)
    ]
    await asyncio.gather(*(protocol.done for _, protocol in made))
    answers.seconds = time.perf_counter() - begun
    return answers


def request(path: str, body: bytes) -> bytes:
    """Return the bytes of one POST."""
    head = f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
