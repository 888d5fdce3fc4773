"""What a chat asks of the store and of the bus."""

from datetime import datetime
from typing import Protocol

from tocsin_contracts import Alert, Event
from tocsin_contracts.chat import ChatTurn
from tocsin_contracts.chat_frames import Frame
from tocsin_kit.chat_record import Session
from tocsin_kit.chats import Held
from tocsin_kit.intake import Admission


class Chats(Protocol):
    """The records of sessions. May raise TransientError."""

    async def get(self, session: str) -> Session | None:
        """Return a session as it stands."""

    async def hold(self, session: str, turn: str, token: str) -> Held:
        """Be the turn's only worker from now on."""

    async def let_go(self, session: str, turn: str, token: str) -> None:
        """Let another worker hold the turn at once."""

    async def tell(self, session: str, frame: Frame, token: str = "") -> int:
        """Keep the next frame; 0 if the turn is another worker's by now."""

    async def end(self, session: str, turn: ChatTurn, frame: Frame, token: str = "") -> bool:
        """End the turn with its last frame."""

    async def history(self, session: str) -> tuple[ChatTurn, ...]:
        """Return the turns that ended, the oldest first."""

    async def request(self, session: str, id: str) -> None:
        """Wait for an answer to a request from now on; '' waits for none."""

    async def confirmed(self, session: str, id: str) -> bool | None:
        """Return what was said to a request; None while nothing was."""

    def now(self) -> datetime:
        """Return the time by which sessions go."""


class Files(Protocol):
    """What people handed over. May raise TransientError."""

    async def get(self, session: str, id: str) -> bytes | None:
        """Return the bytes of a file; None for one that is not kept any more."""


class Publisher(Protocol):
    """Publishes facts. May raise TransientError."""

    async def publish(self, event: Event) -> None:
        """Return once the bus has stored the event."""


class Opening(Protocol):
    """Opens runs. May raise TocsinError."""

    async def take(self, incident_key: str, alert: Alert) -> Admission:
        """Attach an alert to the open run of its incident, or open one."""
