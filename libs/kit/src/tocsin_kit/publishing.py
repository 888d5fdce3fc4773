"""Publishing to JetStream, past FastStream: its layers would cost more than the client's work."""

import json

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import MaxPayloadError
from nats.js.api import Header, StreamInfo
from nats.js.errors import APIError

from tocsin_kit.errors import PermanentError, TransientError

PUBLISH_SECONDS = 5.0
LOOK_SECONDS = 2.0

MOST_UNSENT = 256 * 1024
"""Bytes on their way beyond which only facts are sent: the client's buffer is theirs."""


class Publisher:
    """Stores messages in streams, over a connection that its owner makes."""

    def __init__(self) -> None:
        self._client: Client | None = None

    def use(self, client: Client) -> None:
        """Publish over this connection from now on."""
        self._client = client

    @property
    def connected(self) -> bool:
        """Whether the server is there, as far as the client knows."""
        return self._client is not None and self._client.is_connected

    async def store(
        self,
        body: bytes,
        subject: str,
        stream: str,
        *,
        headers: dict[str, str],
        timeout: float = PUBLISH_SECONDS,
    ) -> None:
        """Return once the stream has stored the message; TransientError if it did not say so.

        A message that no server would take is a PermanentError.
        """
        if self._client is None:
            raise TransientError(f"publish to {subject!r}: the bus is not connected yet")
        try:
            answer = await self._client.request(
                subject, body, timeout=timeout, headers={**headers, Header.EXPECTED_STREAM: stream}
            )
            if fault := json.loads(answer.data).get("error"):
                raise APIError.from_error(fault)
        except MaxPayloadError as error:
            raise PermanentError(
                f"publish to {subject!r}: {len(body)} bytes are too many"
            ) from error
        except (TimeoutError, NatsError, OSError) as error:
            raise TransientError(
                f"publish to {subject!r}: the bus did not store it: {error!r}"
            ) from error

    async def tell(self, body: bytes, subject: str) -> bool:
        """Put a message on its way that no stream keeps, and wait for nobody.

        Return whether it is: a bus that is away or slow is spared it.
        """
        client = self._client
        if client is None or not client.is_connected or client.pending_data_size > MOST_UNSENT:
            return False
        try:
            await client.publish(subject, body)
        except (NatsError, OSError):
            return False
        return True

    async def fill(self, stream: str) -> float:
        """Return how full a stream is, by bytes or messages: 1 is full, 0 also without a limit.

        Raises TransientError if the bus does not say.
        """
        if self._client is None:
            raise TransientError(f"look at stream {stream!r}: the bus is not connected yet")
        try:
            info = await self._client.jetstream(timeout=LOOK_SECONDS).stream_info(stream)
        except (TimeoutError, NatsError, OSError) as error:
            raise TransientError(f"look at stream {stream!r}: no answer: {error!r}") from error
        return fill_of(info)


def fill_of(info: StreamInfo) -> float:
    """Return how full a stream is, by bytes or messages: 1 is full, 0 also without a limit."""
    limits = (
        (info.config.max_bytes, info.state.bytes),
        (info.config.max_msgs, info.state.messages),
    )
    return max(used / most if most and most > 0 else 0.0 for most, used in limits)
