"""What chats ask of the store and of the bus."""

from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from tocsin_contracts.chat import Attachment, ChatTurn
from tocsin_contracts.chat_frames import Frame
from tocsin_kit.chat_record import Session
from tocsin_kit.chats import Asked


class Chats(Protocol):
    """The records of sessions. May raise TransientError."""

    async def open(self, session: str, owner: str) -> bool:
        """Open a session for a person, or find it again; False if it is another's."""

    async def get(self, session: str) -> Session | None:
        """Return a session as it stands; None if there is none."""

    async def ask(self, session: str, turn: str, by: str) -> Asked:
        """Begin a turn, unless one is under way."""

    async def tell(self, session: str, frame: Frame, token: str = "") -> int:
        """Keep the next frame and return its number."""

    async def end(self, session: str, turn: ChatTurn, frame: Frame, token: str = "") -> bool:
        """End a turn with its last frame."""

    async def frames(self, session: str, after: int) -> list[Frame]:
        """Return the frames after a number, the oldest first; a bounded number at a time."""

    async def history(self, session: str) -> tuple[ChatTurn, ...]:
        """Return the turns that ended, the oldest first."""

    async def cancel(self, session: str, turn: str, by: str) -> None:
        """Wish that a turn ends."""

    async def confirm(self, session: str, id: str, *, approved: bool) -> bool:
        """Answer a request; False if the session does not wait for that."""

    def now(self) -> datetime:
        """Return the time by which sessions go."""


class Files(Protocol):
    """What people hand over. May raise TransientError."""

    async def put(self, session: str, about: Attachment, data: bytes) -> bool:
        """Keep a file; return whether there was room."""

    async def about(self, session: str, id: str) -> Attachment | None:
        """Return what a file is; None for one that is not kept."""


class Nudge(Protocol):
    """Something may have moved."""

    def looked(self) -> None:
        """Forget what moved so far."""

    async def wait(self, seconds: float) -> None:
        """Return once something moved, and in any case after so many seconds."""


class Nudges(Protocol):
    """Says when it is worth to look."""

    def about(self, session: str) -> AbstractAsyncContextManager[Nudge]:
        """Listen for a session while the block runs."""
