"""Chats in memory, as the store keeps them, and questions for them."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tocsin_contracts.chat import Attachment, ChatAsked, ChatTurn
from tocsin_contracts.chat_frames import Frame
from tocsin_kit.chat_record import Session
from tocsin_kit.chats import Held
from tocsin_kit.clock import Clock
from tocsin_testing.fakes import Outage
from tocsin_testing.values import NOW, Fields

SESSION = "c0123456789abcdef01234567"


class FakeChats(Outage):
    """One worker's view of sessions; `says` is what the person answers to every request."""

    def __init__(self, clock: Clock, *, says: bool | None = None, held: Held = Held.NEW) -> None:
        self._clock = clock
        self._says = says
        self.held = held
        self.told: defaultdict[str, list[Frame]] = defaultdict(list)
        self.turns: defaultdict[str, list[ChatTurn]] = defaultdict(list)
        self.requests: list[str] = []
        self.cancelled_by = ""

    def kinds(self, session: str = SESSION) -> list[str]:
        """Return the kinds of the frames that were told, in order."""
        return [frame.type for frame in self.told[session]]

    def of(self, kind: type[Frame], session: str = SESSION) -> list[Any]:
        """Return the frames of a kind."""
        return [frame for frame in self.told[session] if isinstance(frame, kind)]

    async def get(self, session: str) -> Session | None:
        """Return the session of `ana`."""
        return Session("ana", "t1", len(self.told[session]), self.cancelled_by)

    async def hold(self, session: str, turn: str, token: str) -> Held:
        """Give the turn as the test says."""
        del session, turn, token
        self._answer()
        return self.held

    async def let_go(self, session: str, turn: str, token: str) -> None:
        """Forget nothing."""

    async def tell(self, session: str, frame: Frame, token: str = "") -> int:
        """Keep the frame."""
        del token
        self._answer()
        self.told[session].append(frame)
        return len(self.told[session])

    async def end(self, session: str, turn: ChatTurn, frame: Frame, token: str = "") -> bool:
        """Keep the turn with its last frame."""
        self.turns[session].append(turn)
        return bool(await self.tell(session, frame, token))

    async def history(self, session: str) -> tuple[ChatTurn, ...]:
        """Return the turns."""
        return tuple(self.turns[session])

    async def request(self, session: str, id: str) -> None:
        """Keep the request."""
        del session
        self.requests.append(id)

    async def confirmed(self, session: str, id: str) -> bool | None:
        """Return what the person says."""
        del session, id
        return self._says

    def now(self) -> datetime:
        """Return the time of the test."""
        return self._clock.now()


class FakeFiles:
    """Files by their ids."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self.abouts: dict[str, Attachment] = {}

    async def put(self, session: str, about: Attachment, data: bytes) -> bool:
        """Keep a file."""
        del session
        self.files[about.id], self.abouts[about.id] = data, about
        return True

    async def about(self, session: str, id: str) -> Attachment | None:
        """Return what a file is."""
        del session
        return self.abouts.get(id)

    async def get(self, session: str, id: str) -> bytes | None:
        """Return the bytes of a file."""
        del session
        return self.files.get(id)


def question(text: str = "Why does web restart?", **changes: Any) -> ChatAsked:
    """Return a question of `ana` in her session."""
    fields: Fields = {"run_id": SESSION, "id": "q1", "turn": "t1", "by": "ana", "at": NOW}
    return ChatAsked(question=text, **(fields | changes))


def turn(**changes: Any) -> ChatTurn:
    """Return a turn that ended with an answer."""
    fields: Fields = {"turn": "t0", "at": NOW, "question": "Why?", "ending": "answered"}
    return ChatTurn(**(fields | {"answer": "Memory."} | changes))
