"""What people do in chats: every session belongs to one person, and others do not see that it is.

Nothing is kept in this process: a question is a fact, and frames are read from the store. So a
turn goes on while a gateway restarts, and any gateway can show, cancel and confirm it.
"""

import secrets
from collections.abc import AsyncGenerator, Sequence

from tocsin_contracts import RunId
from tocsin_contracts.chat import (
    Attachment,
    ChatAsked,
    ChatEnding,
    ChatMode,
    ChatTurn,
    Confirmation,
    Query,
    SessionView,
)
from tocsin_contracts.chat_frames import ChatState, Frame, StatusFrame
from tocsin_contracts.roles import Role
from tocsin_gateway import refusals
from tocsin_gateway.access import Principal
from tocsin_gateway.chat.ports import Chats, Files, Nudges
from tocsin_gateway.ports import Publisher
from tocsin_gateway.refusals import RefusedError
from tocsin_kit import logging
from tocsin_kit.chat_record import Session
from tocsin_kit.chats import Asked
from tocsin_kit.errors import TransientError

SURFACE = "gateway"
LOOK_SECONDS = 1.0
"""After so long frames are looked for though nothing nudged."""

log = logging.get(__name__)


class Rooms:
    """The sessions, as people use them. May raise RefusedError and TransientError."""

    def __init__(
        self,
        chats: Chats,
        files: Files,
        publisher: Publisher,
        nudges: Nudges,
        *,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._chats = chats
        self._files = files
        self._publisher = publisher
        self._nudges = nudges
        self._look_seconds = look_seconds

    async def enter(self, session: str, by: Principal) -> str:
        """Return the session, or a new one if none is named."""
        if session:
            await self._own(session, by)
            return session
        new = f"c{secrets.token_hex(12)}"
        await self._chats.open(new, by.id)
        return new

    async def ask(self, session: str, by: Principal, query: Query) -> str:
        """Put a question to the agents and return its turn; one at a time."""
        if query.mode is ChatMode.AGENT and not by.role.includes(Role.APPROVER):
            raise refusals.needs_role(Role.APPROVER, by.role, ("mode `ask` needs no more",))
        attached = [await self._attached(session, id) for id in query.attachments]
        turn = secrets.token_hex(8)
        asked = _asked(session, turn, by, query, attached)
        match await self._chats.ask(session, turn, by.id):
            case Asked.UNKNOWN:
                raise unknown(session)
            case Asked.BUSY:
                raise RefusedError(409, "a question is being answered", "wait for it, or cancel it")
        try:
            status = StatusFrame(turn=turn, at=asked.at, state=ChatState.ASKED, text=query.text)
            await self._chats.tell(session, status)
            await self._publisher.publish(asked)
        except TransientError:
            await self._undo(asked)
            raise
        return turn

    async def cancel(self, session: str, by: Principal) -> None:
        """Wish that the turn under way ends; without one, or a second time, nothing happens."""
        known = await self._own(session, by)
        if known.turn and not known.cancelled_by:
            await self._chats.cancel(session, known.turn, by.id)
            at = self._chats.now()
            frame = StatusFrame(turn=known.turn, at=at, state=ChatState.CANCELLING)
            await self._chats.tell(session, frame)

    async def confirm(self, session: str, by: Principal, said: Confirmation) -> None:
        """Answer what an agent wants to do; it needs the role that asking for it did."""
        await self._own(session, by)
        if said.approved and not by.role.includes(Role.APPROVER):
            raise refusals.needs_role(Role.APPROVER, by.role, ())
        if not await self._chats.confirm(session, said.id, approved=said.approved):
            raise RefusedError(409, "nothing waits for this confirmation", "it may be too late")

    async def show(self, session: str, by: Principal) -> SessionView:
        """Return a session with its history."""
        known = await self._own(session, by)
        turns = await self._chats.history(session)
        return SessionView(session=session, turn=known.turn, last=known.last, turns=turns)

    async def keep(
        self, session: str, by: Principal, files: Sequence[tuple[Attachment, bytes]]
    ) -> None:
        """Keep files for questions to come."""
        await self._own(session, by)
        for about, data in files:
            if not await self._files.put(session, about, data):
                raise RefusedError(413, "this session holds too many files", "begin another one")

    async def frames(
        self, session: str, by: Principal, after: int
    ) -> AsyncGenerator[Frame | None, None]:
        """Yield the frames after a number, for ever, each once; None when there is no news.

        What is gone already is said; a store that is away is waited for.
        """
        known = await self._own(session, by)
        after = after if after <= known.last else 0
        async with self._nudges.about(session) as nudge:
            while True:
                nudge.looked()
                for frame in await self._after(session, after):
                    if frame.number > after + 1:
                        yield StatusFrame(at=self._chats.now(), state=ChatState.GAP)
                    after = frame.number
                    yield frame
                yield None
                await nudge.wait(self._look_seconds)

    async def _after(self, session: str, number: int) -> list[Frame]:
        try:
            return await self._chats.frames(session, number)
        except TransientError as error:
            log.info("chat.frames_later", why=str(error))
            return []

    async def _own(self, session: str, by: Principal) -> Session:
        known = await self._chats.get(session)
        if known is None or known.owner != by.id:
            raise unknown(session)
        return known

    async def _attached(self, session: str, id: str) -> Attachment:
        about = await self._files.about(session, id)
        if about is None:
            raise RefusedError(422, f"there is no file {id!r}", "hand it over again")
        return about

    async def _undo(self, asked: ChatAsked) -> None:
        """Let the next question come: this one may never have got to anybody."""
        turn = ChatTurn(
            turn=asked.turn,
            at=asked.at,
            question=asked.question,
            mode=asked.mode,
            ending=ChatEnding.FAILED,
            answer="The bus did not take the question; ask again.",
        )
        last = StatusFrame(
            turn=asked.turn, at=asked.at, state=ChatState.ENDED, ending=ChatEnding.FAILED
        )
        await self._chats.end(asked.run_id, turn, last)


def unknown(session: str) -> RefusedError:
    """Return the answer to a session of nobody, or of somebody else."""
    return RefusedError(404, f"no session {session!r}", "begin a new one")


def _asked(
    session: str, turn: str, by: Principal, query: Query, attached: Sequence[Attachment]
) -> ChatAsked:
    event = ChatAsked(
        run_id=RunId(session),
        turn=turn,
        question=query.text,
        mode=query.mode,
        context=query.context,
        by=by.id,
        surface=SURFACE,
        attachments=tuple(attached),
    )
    return event.caused_by(f"{session}:{turn}", SURFACE).model_copy(update={"cause": ""})
