"""Where comments meet whoever answers them: only people who may steer are heard at all."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from tocsin_agents.models.port import ModelAwayError
from tocsin_contracts import (
    AnswerKind,
    ChangeProposed,
    CommentAnswered,
    CommentIgnored,
    Event,
    ForgeEventReceived,
    Hypothesis,
    RunId,
)
from tocsin_kit import logging
from tocsin_kit.redaction import Redactor
from tocsin_kit.steering import Steering
from tocsin_kit.untrusted import clean
from tocsin_rca.discussion import plain
from tocsin_rca.discussion.proposing import proposed
from tocsin_rca.discussion.reply import LONGEST, Reply
from tocsin_rca.discussion.talk import Talk, understood
from tocsin_rca.discussion.talker import Said, Talker
from tocsin_rca.investigation.ports import Runs
from tocsin_rca.ports import Clock

PATIENCE = timedelta(minutes=10)
"""How long a model may be away before a comment is answered without it."""

log = logging.get(__name__)


class Places(Protocol):
    """How many answers a run may still give. May raise TransientError."""

    async def takes(self, run_id: RunId, asked: str, now: datetime) -> bool:
        """Take a place for an answer, if one is left; a comment that has one keeps it."""


class CommentHandlers:
    """Without a talker no model is asked: only the reasons of a plan are told."""

    def __init__(
        self,
        runs: Runs,
        steering: Steering,
        places: Places,
        clock: Clock,
        talker: Talker | None = None,
    ) -> None:
        self._runs = runs
        self._steering = steering
        self._places = places
        self._clock = clock
        self._talker = talker

    async def on_forge_event(self, event: ForgeEventReceived) -> Sequence[Event]:
        """Answer a comment of somebody who may steer the run; nothing else comes of one."""
        run = await self._runs.get(event.run_id)
        talk = understood(event, run) if run else None
        if talk is None or event.author.is_bot:
            return []
        if why := await self._unheard(talk, event):
            log.info("rca.comment_ignored", author=talk.remark.author, why=why)
            return [CommentIgnored(run_id=talk.run_id, remark=talk.remark, why=why)]
        if self._talker is None:
            return [_explained(talk, plain.UNSET)]
        return await self._thought(talk, self._talker)

    async def _unheard(self, talk: Talk, event: ForgeEventReceived) -> str:
        if not self._steering.allows(talk.remark.author):
            return "its author may not approve plans"
        if not await self._places.takes(talk.run_id, event.id, self._clock.now()):
            return "this run gave as many answers within an hour as it may"
        return ""

    async def _thought(self, talk: Talk, talker: Talker) -> Sequence[Event]:
        try:
            said = await talker.reply(talk)
        except ModelAwayError as error:
            if self._clock.now() - talk.since < PATIENCE:
                raise
            log.warning("rca.model_away", error=str(error))
            return [_explained(talk, "The model is away")]
        if said.reply is None:
            return [_explained(talk, f"The model came to no answer ({said.why})", said)]
        wanted = said.reply.change
        asked = proposed(talk, wanted) if wanted else None
        told = _answered(talk, said, said.reply, asked if isinstance(asked, str) else "")
        return [told, _proposal(talk, asked)] if isinstance(asked, Hypothesis) else [told]


def _explained(talk: Talk, without: str, said: Said | None = None) -> CommentAnswered:
    told = plain.explained(talk, without)
    return CommentAnswered(
        run_id=talk.run_id,
        remark=talk.remark,
        kind=AnswerKind.ANSWER,
        words=_said(told.words),
        cites=told.cites,
        model_use=talk.of_answers + said.used if said else talk.of_answers,
    )


def _answered(talk: Talk, said: Said, reply: Reply, refused: str) -> CommentAnswered:
    """What is refused is said first: a model may have promised it."""
    words = f"No plan comes of this: {refused}.\n\n{reply.words}" if refused else reply.words
    return CommentAnswered(
        run_id=talk.run_id,
        remark=talk.remark,
        kind=AnswerKind.DISAGREE if refused else reply.kind,
        words=_said(words),
        cites=reply.evidence,
        gathered=tuple(one for one in said.gathered if one.id in reply.evidence),
        model_use=talk.of_answers + said.used,
    )


def _proposal(talk: Talk, hypothesis: Hypothesis) -> ChangeProposed:
    return ChangeProposed(
        run_id=talk.run_id,
        alert=talk.alert,
        hypothesis=hypothesis,
        plan=talk.plan,
        explanation=talk.hypothesis,
    )


def _said(text: str) -> str:
    return clean(Redactor().text(text), 2 * LONGEST).text
