"""The addresses of chats: a WebSocket, and the same for those who have only HTTP."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from pydantic import Field
from starlette.datastructures import UploadFile
from starlette.responses import Response, StreamingResponse
from starlette.websockets import WebSocket

from tocsin_contracts.chat import MOST_ATTACHED, AttachedView, Confirmation, Query, SessionView
from tocsin_contracts.chat_frames import ChatState, Frame, StatusFrame
from tocsin_contracts.roles import Role
from tocsin_gateway.access import Principal, needs
from tocsin_gateway.chat import uploads
from tocsin_gateway.chat.rooms import Rooms
from tocsin_gateway.chat.seats import Seats
from tocsin_gateway.chat.socket import Client
from tocsin_gateway.chat.uploads import BadFileError, Taken
from tocsin_gateway.refusals import RefusedError
from tocsin_gateway.streaming import Stream
from tocsin_kit.clock import Clock, SystemClock

BEAT_SECONDS = 15.0
LASTS_SECONDS = 3600.0
MOST_DIGITS = 18

Viewer = Annotated[Principal, Depends(needs(Role.VIEWER))]
Operator = Annotated[Principal, Depends(needs(Role.OPERATOR))]


class Question(Query):
    """A query, and the session that it is for; without one it opens a new one."""

    session: str = Field(default="", pattern=r"^(c[0-9a-f]{24})?$")


def socket(rooms: Rooms, seats: Seats, clock: Clock | None = None) -> APIRouter:
    """Return the WebSocket."""
    router, timer = APIRouter(), clock or SystemClock()

    @router.websocket("/api/v1/ws")
    async def chat(socket: WebSocket, by: Operator) -> None:
        seats.admit(by.id)
        with seats.taken(by.id):
            await Client(socket, rooms, by, timer).serve()

    return router


def streams(rooms: Rooms, seats: Seats, clock: Clock | None = None) -> APIRouter:
    """Return the routes that answer with server-sent events, one for each frame."""
    router, timer = APIRouter(prefix="/api/v1/chat"), clock or SystemClock()

    @router.post("", response_class=StreamingResponse)
    async def ask(question: Question, by: Operator) -> Stream:
        seats.admit(by.id)
        session = await rooms.enter(question.session, by)
        after = (await rooms.show(session, by)).last
        turn = await rooms.ask(session, by, question)
        opened = StatusFrame(turn=turn, at=timer.now(), state=ChatState.OPENED, session=session)
        return _stream(seats, by, rooms.frames(session, by, after), opened, until=turn)

    @router.get("/sessions/{session}/frames", response_class=StreamingResponse)
    async def resume(
        session: str, by: Viewer, last_event_id: Annotated[str, Header()] = ""
    ) -> Stream:
        seats.admit(by.id)
        await rooms.show(session, by)
        digits = last_event_id.isascii() and last_event_id.isdigit()
        known = digits and len(last_event_id) <= MOST_DIGITS
        after = int(last_event_id) if known else 0
        opened = StatusFrame(at=timer.now(), state=ChatState.OPENED, session=session)
        return _stream(seats, by, rooms.frames(session, by, after), opened)

    return router


def sessions(rooms: Rooms) -> APIRouter:
    """Return the routes about sessions, without a stream."""
    router = APIRouter(prefix="/api/v1/chat/sessions")

    @router.post("")
    async def begin(by: Operator) -> SessionView:
        return await rooms.show(await rooms.enter("", by), by)

    @router.get("/{session}")
    async def show(session: str, by: Viewer) -> SessionView:
        return await rooms.show(session, by)

    @router.post("/{session}/cancel", status_code=204)
    async def cancel(session: str, by: Operator) -> Response:
        await rooms.cancel(session, by)
        return Response(status_code=204)

    @router.post("/{session}/confirm", status_code=204)
    async def confirm(session: str, said: Confirmation, by: Operator) -> Response:
        await rooms.confirm(session, by, said)
        return Response(status_code=204)

    @router.post("/{session}/attachments")
    async def attach(session: str, request: Request, by: Operator) -> AttachedView:
        """Take files as multipart/form-data, each in a field `file`."""
        await rooms.show(session, by)
        files = await _uploaded(request)
        await rooms.keep(session, by, files)
        return AttachedView(session=session, attachments=tuple(about for about, _ in files))

    return router


async def _uploaded(request: Request) -> list[Taken]:
    """Return what was handed over, looked at off the loop; RefusedError for what is not taken."""
    found: list[Taken] = []
    async with request.form(max_files=MOST_ATTACHED, max_fields=0) as form:
        for part in form.getlist("file"):
            if isinstance(part, UploadFile):
                data = await part.read()
                try:
                    found += await asyncio.to_thread(uploads.taken, part.filename or "", data)
                except BadFileError as error:
                    hint = "text, an image or a zip of those is taken"
                    raise RefusedError(422, str(error), hint) from None
    if not found or len(found) > MOST_ATTACHED:
        raise RefusedError(422, f"hand over 1 to {MOST_ATTACHED} files", "in fields called `file`")
    return found


def _stream(
    seats: Seats,
    by: Principal,
    frames: AsyncGenerator[Frame | None, None],
    opened: StatusFrame,
    until: str = "",
) -> Stream:
    return Stream(_events(frames, opened, until), seats.take(by.id))


async def _events(
    frames: AsyncGenerator[Frame | None, None], opened: StatusFrame, until: str
) -> AsyncGenerator[str, None]:
    """Yield the frames, with a beat in silence; the end of the turn `until` ends it."""
    loop = asyncio.get_running_loop()
    ends, spoke = loop.time() + LASTS_SECONDS, loop.time()
    yield f"retry: 2000\ndata: {opened.model_dump_json()}\n\n"
    async with aclosing(frames) as found:
        async for frame in found:
            if loop.time() >= ends:
                return
            if frame is None and loop.time() - spoke < BEAT_SECONDS:
                continue
            spoke = loop.time()
            yield _event(frame) if frame else ": beat\n\n"
            if isinstance(frame, StatusFrame) and _is_last(frame, until):
                return


def _is_last(frame: StatusFrame, turn: str) -> bool:
    return bool(turn) and frame.turn == turn and frame.state is ChatState.ENDED


def _event(frame: Frame) -> str:
    numbered = f"id: {frame.number}\n" if frame.number else ""
    return f"{numbered}data: {frame.model_dump_json()}\n\n"
