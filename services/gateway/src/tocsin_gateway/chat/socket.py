"""A chat over a WebSocket: frames go out as fast as the client takes them, and none waits here."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from tocsin_contracts.chat import CLIENT_MESSAGE, ClientMessage, Confirmation, Init, Query, Stop
from tocsin_contracts.chat_frames import ChatState, ErrorFrame, Frame, StatusFrame
from tocsin_gateway.access import Principal
from tocsin_gateway.chat.rooms import Rooms
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.clock import Clock
from tocsin_kit.errors import TransientError

LONGEST_MESSAGE = 32 * 1024
INIT_SECONDS = 10.0
LASTS_SECONDS = 3600.0
"""How long a connection goes on: then its client comes back, and shows again who it is."""

SEND_SECONDS = 20.0
"""How long a client may take for one frame."""

TOO_BIG, GOING_AWAY, POLICY = 1009, 1001, 1008


class ClosedError(Exception):
    """The conversation over this connection is over; `code` says why."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Client:
    """One connection of one person."""

    def __init__(self, socket: WebSocket, rooms: Rooms, by: Principal, clock: Clock) -> None:
        self._socket = socket
        self._rooms = rooms
        self._by = by
        self._clock = clock
        self._sending = asyncio.Lock()

    async def serve(self, lasts: float = LASTS_SECONDS) -> None:
        """Talk until one of both goes away."""
        await self._socket.accept()
        try:
            async with asyncio.timeout(lasts):
                session, last = await self._begun()
                await self._talk(session, last)
        except (TimeoutError, TransientError):
            await self._close(GOING_AWAY)
        except ClosedError as closed:
            await self._close(closed.code)
        except WebSocketDisconnect:
            return

    async def _begun(self) -> tuple[str, int]:
        """Return the session that the first message opens, and the number that was seen last."""
        async with asyncio.timeout(INIT_SECONDS):
            first = await self._heard()
        if not isinstance(first, Init):
            await self._refuse("the first message has to be `init`")
            raise ClosedError(POLICY)
        try:
            session = await self._rooms.enter(first.session, self._by)
        except RefusedError as error:
            await self._refuse(error.view.error, error.view.hint)
            raise ClosedError(POLICY) from None
        except TransientError as error:
            await self._refuse(str(error), "try again in a few seconds")
            raise ClosedError(GOING_AWAY) from None
        opened = StatusFrame(at=self._clock.now(), state=ChatState.OPENED, session=session)
        await self._send(opened)
        return session, first.last

    async def _talk(self, session: str, last: int) -> None:
        showing = asyncio.create_task(self._show(self._rooms.frames(session, self._by, last)))
        hearing = asyncio.create_task(self._hear(session))
        try:
            done, _ = await asyncio.wait((showing, hearing), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (showing, hearing):
                task.cancel()
            await asyncio.wait((showing, hearing))

    async def _show(self, frames: AsyncGenerator[Frame | None, None]) -> None:
        async with aclosing(frames) as found:
            async for frame in found:
                if frame:
                    await self._send(frame)

    async def _hear(self, session: str) -> None:
        while True:
            message = await self._heard()
            if message is None:
                continue
            try:
                await self._do(session, message)
            except RefusedError as error:
                await self._refuse(error.view.error, error.view.hint)
            except TransientError as error:
                await self._refuse(str(error), "try again in a few seconds")

    async def _do(self, session: str, message: ClientMessage) -> None:
        match message:
            case Query():
                await self._rooms.ask(session, self._by, message)
            case Stop():
                await self._rooms.cancel(session, self._by)
            case Confirmation():
                await self._rooms.confirm(session, self._by, message)
            case Init():
                await self._refuse("this connection has its session", "open another connection")

    async def _heard(self) -> ClientMessage | None:
        """Return the next message; None for nonsense, which is answered."""
        received = await self._socket.receive()
        if received["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(received.get("code", GOING_AWAY))
        text = received.get("text") or ""
        if len(text) > LONGEST_MESSAGE:
            raise ClosedError(TOO_BIG)
        try:
            return CLIENT_MESSAGE.validate_json(text)
        except ValidationError as error:
            fault = error.errors(include_input=False, include_url=False, include_context=False)[0]
            where = ".".join(map(str, fault["loc"]))
            await self._refuse(f"{where}: {fault['msg']}".removeprefix(": "), "see docs/chat.md")
            return None

    async def _refuse(self, error: str, hint: str = "") -> None:
        await self._send(ErrorFrame(at=self._clock.now(), error=error, hint=hint))

    async def _send(self, frame: Frame) -> None:
        async with self._sending, asyncio.timeout(SEND_SECONDS):
            await self._socket.send_text(frame.model_dump_json())

    async def _close(self, code: int) -> None:
        with suppress(RuntimeError, WebSocketDisconnect):
            await self._socket.close(code)
