"""Questions in the thread of a message of ours: agents answer them there, once, in ask mode."""

import hashlib
from typing import Protocol

from tocsin_contracts import RunId
from tocsin_contracts.chat import LONGEST_QUESTION, ChatAnswered, ChatAsked, ChatContext, ChatMode
from tocsin_kit import logging
from tocsin_kit.chats import Asked
from tocsin_kit.clock import Clock
from tocsin_kit.errors import TocsinError
from tocsin_notifier.channels.slack import blocks, events
from tocsin_notifier.channels.slack.blocks import Shown
from tocsin_notifier.channels.slack.clicks import People
from tocsin_notifier.channels.slack.events import Told
from tocsin_notifier.channels.slack.posting import Posting
from tocsin_notifier.channels.slack.taking import Taking
from tocsin_notifier.channels.slack.text import escaped
from tocsin_notifier.channels.slack.view import SURFACE
from tocsin_notifier.channels.slack.web import Place, Web
from tocsin_notifier.ports import Cards, Publisher

QUESTION, ANSWER = "question", "answer"
BUSY = "Your last question here is still being answered; ask again after that."
STRANGER = "You may not ask here: TOCSIN_SLACK_APPROVERS does not name you."

log = logging.get(__name__)


class Threads(Cards, Protocol):
    """Knows which run a message shows."""

    async def shown_at(self, channel: str, ts: str) -> str:
        """Return the run that a message shows; empty for one that is none of ours."""


class Chats(Protocol):
    """The sessions of chats."""

    async def open(self, session: str, owner: str) -> bool:
        """Open a session for a person, or find it again."""

    async def ask(self, session: str, turn: str, by: str) -> Asked:
        """Begin a turn, unless one is under way."""


class Questions(Taking):
    """Takes what is written in threads, by HTTP and by socket, and shows the answers.

    Slack may tell of one message several times: it is asked once. Every person has a session of
    their own in every thread.
    """

    def __init__(
        self,
        web: Web,
        cards: Threads,
        chats: Chats,
        bus: Publisher,
        people: People,
        *,
        clock: Clock,
    ) -> None:
        super().__init__()
        self._web = web
        self._cards = cards
        self._chats = chats
        self._bus = bus
        self._people = people
        self._clock = clock
        self._posting = Posting(web, cards, clock)

    def take(self, text: str | bytes) -> str:
        """Take an event and return the challenge that Slack has to hear again, if it is one.

        PermanentError for what is no event, FullError when there are too many.
        """
        told = events.read(text)
        if told.type == "url_verification":
            return told.challenge
        if told.event.is_a_question and told.event.words:
            self._room()
            self._begin(self._work(told))
        return ""

    async def on_chat_answered(self, event: ChatAnswered) -> None:
        """Show the answer to a question that was asked in a thread."""
        channel, _, rest = event.reply_to.partition(" ")
        thread, _, ts = rest.partition(" ")
        if event.surface != SURFACE or not ts:
            return
        words = escaped(event.words, blocks.SECTION)
        shown = Shown(words, (blocks.section(words),))
        await self._posting.once(_subject(channel, ts), ANSWER, Place(channel, thread), shown)

    async def _work(self, told: Told) -> None:
        try:
            await self._ask(told)
        except TocsinError as error:
            log.warning("slack.question_not_asked", why=str(error))

    async def _ask(self, told: Told) -> None:
        said = told.event
        run = await self._cards.shown_at(said.channel, said.thread_ts)
        by = self._people.known(told.api_app_id, told.team_id, said.user)
        if not run or said.team not in ("", told.team_id):
            return
        if not by:
            log.info("slack.question_of_a_stranger", team=told.team_id, user=said.user)
            if said.type == "app_mention":
                await self._web.whisper(said.channel, said.user, STRANGER)
            return
        subject = _subject(said.channel, said.ts)
        if await self._cards.posting(subject, QUESTION, self._clock.now()):
            return
        asked = _asked(told, RunId(run), by)
        await self._chats.open(asked.run_id, by)
        if await self._chats.ask(asked.run_id, asked.turn, by) is not Asked.OK:
            await self._web.whisper(said.channel, said.user, BUSY)
            return
        await self._bus.publish(asked)


def _asked(told: Told, run: RunId, by: str) -> ChatAsked:
    said = told.event
    session = _digest(told.team_id, said.channel, said.thread_ts, said.user)[:24]
    event = ChatAsked(
        run_id=RunId(f"c{session}"),
        turn=_digest(said.channel, said.ts)[:16],
        question=said.words[:LONGEST_QUESTION],
        mode=ChatMode.ASK,
        context=ChatContext(run=run),
        by=by,
        surface=SURFACE,
        reply_to=f"{said.channel} {said.thread_ts} {said.ts}",
    )
    unique = f"{event.run_id}:{event.turn}"
    return event.caused_by(unique, "notifier").model_copy(update={"cause": ""})


def _subject(channel: str, ts: str) -> str:
    return f"question|{channel}|{ts}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
