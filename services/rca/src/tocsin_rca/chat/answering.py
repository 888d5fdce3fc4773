"""Where questions meet whoever answers them: one at a time in a session, and each has an end."""

from datetime import timedelta

from tocsin_agents.loop.outputs import Outputs
from tocsin_agents.models.port import ModelAwayError
from tocsin_contracts import RunId
from tocsin_contracts.chat import Attachment, AttachmentKind, ChatAnswered, ChatAsked, ChatEnding
from tocsin_contracts.chat import ChatTurn as Ended
from tocsin_contracts.chat_frames import (
    ChatState,
    ErrorFrame,
    MessageFrame,
    StatusFrame,
    UsageFrame,
)
from tocsin_kit import logging
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.run_view import Run
from tocsin_kit.untrusted import line
from tocsin_rca.chat import plain
from tocsin_rca.chat.ports import Chats, Files, Publisher
from tocsin_rca.chat.talker import Said, Talker
from tocsin_rca.chat.telling import Handed
from tocsin_rca.chat.turn import BUSY_SECONDS, Turn, held
from tocsin_rca.investigation.ports import Runs

PATIENCE = timedelta(seconds=30)
"""How long a model may be away before a person is told that it is."""

log = logging.get(__name__)


class ChatHandlers:
    """Without a talker no model is asked: that is said, with what the analyzers found."""

    def __init__(
        self,
        chats: Chats,
        files: Files,
        outputs: Outputs,
        runs: Runs,
        *,
        publisher: Publisher,
        talker: Talker | None = None,
    ) -> None:
        self._chats = chats
        self._files = files
        self._outputs = outputs
        self._runs = runs
        self._publisher = publisher
        self._talker = talker

    async def on_chat_asked(self, event: ChatAsked) -> None:
        """Answer a question in a chat, word by word, and say what came of it."""
        async with held(self._chats, event) as turn:
            if turn is None:
                return
            said = await self._said(turn)
            if turn.lost:
                raise TransientError("another worker has the turn", retry_in=BUSY_SECONDS)
            await self._ended(turn, said)

    async def _said(self, turn: Turn) -> Said:
        try:
            return await self._thought(turn)
        except ModelAwayError as error:
            if self._chats.now() - turn.asked.at < PATIENCE:
                await turn.status(ChatState.WORKING, "the model is away; it is asked again")
                raise
            log.warning("rca.model_away", error=str(error))
            return await self._plainly(turn, plain.AWAY, ChatEnding.FAILED)
        except PermanentError as error:
            why = line(str(error), 500)
            await turn.say(ErrorFrame(**turn.head, error=why))
            return Said(ChatEnding.FAILED, why)

    async def _thought(self, turn: Turn) -> Said:
        if self._talker is None:
            return await self._plainly(turn, plain.UNSET, ChatEnding.ANSWERED)
        run, earlier = await self._run(turn.asked), await self._chats.history(turn.session)
        handed = [await self._handed(turn, about) for about in turn.asked.attachments]
        return await self._talker.answer(turn, earlier, run, tuple(handed))

    async def _plainly(self, turn: Turn, why: str, ending: ChatEnding) -> Said:
        words = plain.explained(why, await self._run(turn.asked))
        await turn.say(MessageFrame(**turn.head, text=words))
        return Said(ending, words)

    async def _run(self, asked: ChatAsked) -> Run | None:
        if not asked.context.run:
            return None
        run = await self._runs.get(RunId(asked.context.run))
        if run is None:
            raise PermanentError(f"there is no run {asked.context.run!r}; leave it out")
        return run

    async def _handed(self, turn: Turn, about: Attachment) -> Handed:
        """Return a file as far as it can be told; all of a text can be read on in."""
        data = await self._files.get(turn.session, about.id)
        if data is None or about.kind is not AttachmentKind.TEXT:
            return Handed(about, None)
        text = data.decode(errors="replace")
        return Handed(about, text, await self._outputs.keep(turn.session, text))

    async def _ended(self, turn: Turn, said: Said) -> None:
        """The fact comes before the last frame: a crash in between tells it once more."""
        asked = turn.asked
        if said.used:
            await turn.say(UsageFrame(**turn.head, total=said.used))
        await turn.flush()
        await self._publisher.publish(_answered(asked, said).caused_by(asked.id, "rca"))
        last = StatusFrame(
            **turn.head, state=ChatState.ENDED, ending=said.ending, started=said.started
        )
        await self._chats.end(turn.session, _kept(asked, said), last, turn.token)


def _answered(asked: ChatAsked, said: Said) -> ChatAnswered:
    return ChatAnswered(
        run_id=asked.run_id,
        turn=asked.turn,
        ending=said.ending,
        words=said.words,
        by=asked.by,
        surface=asked.surface,
        reply_to=asked.reply_to,
        started=said.started,
        model_use=said.used,
    )


def _kept(asked: ChatAsked, said: Said) -> Ended:
    return Ended(
        turn=asked.turn,
        at=asked.at,
        question=asked.question,
        mode=asked.mode,
        attachments=asked.attachments,
        ending=said.ending,
        answer=said.words,
        started=said.started,
        model_use=said.used,
    )
