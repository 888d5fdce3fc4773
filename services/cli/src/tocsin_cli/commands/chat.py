"""`tocsin chat`: ask the agents, and see what they look at while they do."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tocsin_cli import prompt
from tocsin_cli.chatting import Chatting
from tocsin_cli.commands.connect import access
from tocsin_cli.commands.options import Data, GatewayUrl, Json, Token
from tocsin_cli.errors import ExitCode, UsageError
from tocsin_cli.frames import Transcript
from tocsin_cli.terminal import show
from tocsin_cli.workspace import DEFAULT
from tocsin_contracts.chat import ChatContext, ChatEnding, ChatMode, Confirmation
from tocsin_contracts.chat_frames import ConfirmationRequestFrame, Frame
from tocsin_kit.errors import TocsinError

CODES = {ChatEnding.ANSWERED: ExitCode.OK, ChatEnding.CANCELLED: ExitCode.INTERRUPTED}


def chat(
    question: Annotated[
        str, typer.Argument(metavar="[QUESTION]", help="Without one they are asked for.")
    ] = "",
    *,
    run: Annotated[str, typer.Option("--run", help="The run that it is about.")] = "",
    mode: Annotated[
        ChatMode, typer.Option(help="ask only looks; agent may start a run, once you say yes.")
    ] = ChatMode.ASK,
    session: Annotated[str, typer.Option("--session", help="Go on with this one.")] = "",
    cluster: Annotated[str, typer.Option("--cluster", help="Look at this one only.")] = "",
    model: Annotated[str, typer.Option("--model", help="One that is set, provider/name.")] = "",
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="Hand a file over; repeatable.")
    ] = None,
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Ask agents about clusters and runs. Ctrl-C ends an answer, and an empty line the chat."""
    if as_json and not question:
        raise UsageError("--json needs a question")
    context = ChatContext(run=run, cluster=cluster, model=model)

    async def talk() -> ExitCode:
        async with Chatting(access(data, gateway_url, token)) as chatting:
            chatting.session = session
            talker = Talker(chatting, context, mode, as_json=as_json)
            attached = await chatting.attach(file) if file else ()
            if question:
                return await talker.turn(question, attached)
            return await talker.turns(attached)

    code = asyncio.run(talk())
    if code:
        raise typer.Exit(code)


class Talker:
    """Shows one turn after the other."""

    def __init__(
        self, chatting: Chatting, context: ChatContext, mode: ChatMode, *, as_json: bool
    ) -> None:
        self._chatting = chatting
        self._context = context
        self._mode = mode
        self._as_json = as_json
        self._console = Console()

    async def turns(self, attached: tuple[str, ...]) -> ExitCode:
        """Ask for questions until there is none."""
        while question := await prompt.ask(self._console, ">"):
            await self.turn(question, attached)
            attached = ()
        session = self._chatting.session
        show(self._console, *([f"go on with: tocsin chat --session {session}"] if session else []))
        return ExitCode.OK

    async def turn(self, question: str, attached: tuple[str, ...] = ()) -> ExitCode:
        """Show the answer as it comes; Ctrl-C asks that it ends, and it still says how it did."""
        asked = {
            "session": self._chatting.session,
            "text": question,
            "mode": self._mode.value,
            "context": self._context.model_dump(),
            "attachments": attached,
        }
        transcript = Transcript(self._console)
        frames = self._chatting.ask(asked)
        async with _interrupting(self._chatting), aclosing(frames) as found:
            async for frame in found:
                await self._heard(frame, transcript)
        return CODES.get(transcript.ending or ChatEnding.FAILED, ExitCode.FAILED)

    async def _heard(self, frame: Frame, transcript: Transcript) -> None:
        transcript.take(frame)
        if self._as_json:
            typer.echo(frame.model_dump_json())
        else:
            transcript.show(frame)
        if isinstance(frame, ConfirmationRequestFrame):
            said = await self._says_yes()
            await self._chatting.confirm(Confirmation(id=frame.id, approved=said))

    async def _says_yes(self) -> bool:
        if self._as_json or not sys.stdin.isatty():
            return False
        return (await prompt.ask(self._console, "Do it? Type yes:")).lower() == "yes"


@asynccontextmanager
async def _interrupting(chatting: Chatting) -> AsyncIterator[None]:
    """Let Ctrl-C end the turn instead of this program while the block runs."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    wishes = set[asyncio.Task[None]]()

    async def wish() -> None:
        with contextlib.suppress(TocsinError):
            await chatting.cancel_turn()

    def stop() -> None:
        if not over.is_set():
            wishes.add(loop.create_task(wish()))
            loop.remove_signal_handler(signal.SIGINT)

    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        over.set()
        loop.remove_signal_handler(signal.SIGINT)
        await asyncio.gather(*wishes)
