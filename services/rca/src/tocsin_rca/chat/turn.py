"""One turn in the hands of its worker: it is held, and its frames are told in order, masked."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from tocsin_agents.loop.invocation import Cancel
from tocsin_contracts import (
    LiveEvent,
    ModelCalled,
    TextWritten,
    ToolAnswered,
    ToolCalled,
    ToolProgressed,
)
from tocsin_contracts.chat import ChatAsked
from tocsin_contracts.chat_frames import (
    ChatState,
    Frame,
    MessageFrame,
    StatusFrame,
    ToolCallFrame,
    ToolErrorFrame,
    ToolResultFrame,
    UsageFrame,
)
from tocsin_kit.chats import Held
from tocsin_kit.errors import TransientError
from tocsin_rca.chat.ports import Chats

RENEW_SECONDS = 10.0
BUSY_SECONDS = 3.0
OK = "ok"


class Turn:
    """Tells the frames of one question. `lost` says that another worker has it by now.

    What the store did not take is told with the next frame; `flush` says if it never was.
    """

    def __init__(self, chats: Chats, asked: ChatAsked, token: str) -> None:
        self.asked = asked
        self.cancel = Cancel()
        self.token = token
        self.lost = False
        self._chats = chats
        self._unsaid: list[Frame] = []

    @property
    def session(self) -> str:
        """The session that it belongs to."""
        return self.asked.run_id

    @property
    def head(self) -> dict[str, Any]:
        """What every frame of it says."""
        return {"turn": self.asked.turn, "at": self._chats.now()}

    async def say(self, frame: Frame) -> None:
        """Tell a frame, now or with the next one."""
        self._unsaid.append(frame)
        with suppress(TransientError):
            await self.flush()

    async def status(self, state: ChatState, text: str = "") -> None:
        """Tell how the turn stands."""
        await self.say(StatusFrame(**self.head, state=state, text=text))

    async def tell(self, event: LiveEvent) -> None:
        """Tell what goes on in an agent's work."""
        frame = _frame(event, self.head)
        if frame:
            await self.say(frame)

    async def flush(self) -> None:
        """Tell what is left; TransientError if the store does not take it, or the turn is lost."""
        while self._unsaid:
            if not self.lost and not await self._chats.tell(
                self.session, self._unsaid[0], self.token
            ):
                self.lose()
            if self.lost:
                raise TransientError("another worker has the turn", retry_in=BUSY_SECONDS)
            self._unsaid.pop(0)

    def lose(self) -> None:
        """Stop: another worker has it."""
        self.lost = True
        self.cancel.request("another worker")


@asynccontextmanager
async def held(
    chats: Chats, asked: ChatAsked, every: float = RENEW_SECONDS
) -> AsyncIterator[Turn | None]:
    """Hold a turn while the block runs; None if it has ended. TransientError while another does."""
    session, token = asked.run_id, secrets.token_hex(8)
    found = await chats.hold(session, asked.turn, token)
    if found is Held.OVER:
        yield None
        return
    if found is Held.BUSY:
        raise TransientError("another worker has the turn", retry_in=BUSY_SECONDS)
    turn = Turn(chats, asked, token)
    renewing = asyncio.create_task(_renew(chats, turn, every))
    try:
        await turn.status(ChatState.RESUMED if found is Held.AGAIN else ChatState.WORKING)
        yield turn
    finally:
        renewing.cancel()
        await asyncio.wait([renewing])
        with suppress(TransientError):
            await chats.let_go(session, asked.turn, token)


async def _renew(chats: Chats, turn: Turn, every: float) -> None:
    while not turn.lost:
        await asyncio.sleep(every)
        with suppress(TransientError):
            if await chats.hold(turn.session, turn.asked.turn, turn.token) is not Held.OURS:
                turn.lose()


def _frame(event: LiveEvent, head: dict[str, Any]) -> Frame | None:
    match event:
        case TextWritten(text=text):
            return MessageFrame(**head, text=text)
        case ToolProgressed(tool=tool, text=text):
            return StatusFrame(**head, state=ChatState.WORKING, text=f"{tool}: {text}")
        case ModelCalled(model=model, input_tokens=given, output_tokens=said, cost=cost):
            return UsageFrame(
                **head, model=model, input_tokens=given, output_tokens=said, cost=cost
            )
    return _of_tool(event, head)


def _of_tool(event: LiveEvent, head: dict[str, Any]) -> Frame | None:
    if isinstance(event, ToolCalled):
        said = event.arguments
        return ToolCallFrame(**head, call=event.call, tool=event.tool, arguments=said)
    if not isinstance(event, ToolAnswered):
        return None
    ended = {**head, "call": event.call, "tool": event.tool, "seconds": event.seconds}
    if event.status == OK:
        return ToolResultFrame(**ended)
    return ToolErrorFrame(**ended, status=event.status)
