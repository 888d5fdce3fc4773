"""Talk to the agents over the gateway: frames as they come, each once, whatever the connection."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from pydantic import ValidationError

from tocsin_cli.client import Gateway, why
from tocsin_cli.errors import RefusedError, UnreachableError
from tocsin_contracts.chat import AttachedView, Confirmation, SessionView
from tocsin_contracts.chat_frames import FRAME, ChatState, Frame, StatusFrame
from tocsin_kit.errors import PermanentError

SILENCE_SECONDS = 45.0
"""Of a stream that beats more often than that."""

RETRIES, RETRY_SECONDS = 20, 0.5
CHAT = "/api/v1/chat"


class Chatting(Gateway):
    """Asks questions in one session, and knows the last frame that it has heard."""

    session = ""
    last = 0

    async def ask(self, question: Mapping[str, Any]) -> AsyncGenerator[Frame, None]:
        """Yield the frames of a turn until it has ended; a connection that breaks is resumed."""
        async with aclosing(self._stream("POST", CHAT, json=dict(question))) as frames:
            try:
                async for frame in frames:
                    yield frame
                    if _is_last(frame):
                        return
            except UnreachableError:
                if not self.session:
                    raise
        async with aclosing(self._resumed()) as frames:
            async for frame in frames:
                yield frame

    async def attach(self, paths: list[Path]) -> tuple[str, ...]:
        """Hand files over and return their ids."""
        if not self.session:
            self.session = (await self._ask(SessionView, "POST", f"{CHAT}/sessions")).session
        files = [("file", (path.name, _content(path))) for path in paths]
        where = f"{CHAT}/sessions/{self.session}/attachments"
        taken = await self._ask(AttachedView, "POST", where, files=files)
        return tuple(one.id for one in taken.attachments)

    async def cancel_turn(self) -> None:
        """Ask that the turn ends."""
        await self._post("cancel")

    async def confirm(self, said: Confirmation) -> None:
        """Answer what the agent wants to do."""
        await self._post("confirm", json=said.model_dump())

    async def _resumed(self) -> AsyncGenerator[Frame, None]:
        where = f"{CHAT}/sessions/{self.session}/frames"
        for left in reversed(range(RETRIES)):
            headers = {"Last-Event-ID": str(self.last)}
            try:
                async with aclosing(self._stream("GET", where, headers=headers)) as frames:
                    async for frame in frames:
                        yield frame
                        if _is_last(frame):
                            return
            except UnreachableError:
                if not left:
                    raise
            await asyncio.sleep(RETRY_SECONDS)

    async def _stream(self, method: str, where: str, **request: Any) -> AsyncGenerator[Frame, None]:
        async with self._answer(method, where, **request) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    yield self._heard(line.removeprefix("data: "))

    def _heard(self, data: str) -> Frame:
        try:
            frame = FRAME.validate_json(data)
        except ValidationError as error:
            raise PermanentError(f"the gateway said something that is no frame: {error}") from error
        if isinstance(frame, StatusFrame) and frame.session:
            self.session = frame.session
        self.last = max(self.last, frame.number)
        return frame

    @asynccontextmanager
    async def _answer(
        self, method: str, where: str, **request: Any
    ) -> AsyncIterator[httpx.Response]:
        timeout = httpx.Timeout(10, read=SILENCE_SECONDS)
        try:
            async with self._http.stream(method, where, timeout=timeout, **request) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise _refusal(answer)
                yield answer
        except httpx.TransportError as error:
            raise UnreachableError(f"the gateway does not answer: {error!r}") from error

    async def _post(self, verb: str, **request: Any) -> None:
        where = f"{CHAT}/sessions/{self.session}/{verb}"
        try:
            answer = await self._http.post(where, **request)
        except httpx.TransportError as error:
            raise UnreachableError(f"the gateway does not answer: {error!r}") from error
        if not answer.is_success:
            raise _refusal(answer)


def _is_last(frame: Frame) -> bool:
    return isinstance(frame, StatusFrame) and frame.state is ChatState.ENDED


def _refusal(answer: httpx.Response) -> RefusedError | UnreachableError:
    if answer.is_server_error:
        return UnreachableError(f"the gateway is not ready: {why(answer)}")
    return RefusedError(why(answer))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PermanentError(f"cannot read {str(path)!r}: {error}") from error
