"""What the notifier asks of the world."""

from dataclasses import dataclass
from typing import Protocol

from tocsin_contracts import RunId


@dataclass(frozen=True, slots=True)
class Message:
    """One thing to tell people; the id is that of the event it tells of."""

    id: str
    run_id: RunId
    title: str
    text: str


class Channel(Protocol):
    """One way to reach people."""

    @property
    def name(self) -> str:
        """The name that settings use."""

    async def send(self, message: Message) -> None:
        """Show the message; TransientError to be called again, PermanentError to give up."""


class Notices(Protocol):
    """What was told already."""

    async def told(self, run_id: RunId, message_id: str, channel: str) -> bool:
        """Return whether a channel has shown a message."""

    async def settle(self, run_id: RunId, message_id: str, channel: str) -> None:
        """Remember that a channel has shown a message."""
