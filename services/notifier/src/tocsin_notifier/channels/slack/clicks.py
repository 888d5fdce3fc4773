"""Clicks in Slack: taken at once, then decided the way every surface decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_contracts import ApprovalRequested
from tocsin_contracts.views import DecisionKind
from tocsin_kit import logging
from tocsin_kit.approvals import Approval
from tocsin_kit.errors import PermanentError, TocsinError
from tocsin_notifier.channels.slack import answers, blocks, payloads, rating
from tocsin_notifier.channels.slack.buttons import Ticket
from tocsin_notifier.channels.slack.card import APPROVE, REJECT, Surroundings
from tocsin_notifier.channels.slack.payloads import Memory, Payload
from tocsin_notifier.channels.slack.rating import Ratings
from tocsin_notifier.channels.slack.taking import Taking
from tocsin_notifier.channels.slack.view import SURFACE
from tocsin_notifier.channels.slack.voice import Voice
from tocsin_notifier.ports import Approvals, Runs

REASON = "tocsin-reason"
CLICKED, SENT = "block_actions", "view_submission"
PING = "tocsin-ping"
"""The button of `tocsin doctor slack`: its value comes back, and nothing else happens."""

TOO_SHORT = "Say why, so that others know."

log = logging.get(__name__)


class UndecidedError(PermanentError):
    """A click that decided nothing; the message is what the person hears."""


@dataclass(frozen=True, slots=True)
class Click:
    """A decision somebody wants to take."""

    answer: DecisionKind
    value: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class People:
    """Who may decide in Slack: approvers by `<team id>:<user id>`, clicks of one app only."""

    approvers: Mapping[str, str]
    app_id: str = ""

    def who(self, payload: Payload) -> str:
        """Return the approver who clicked, or nothing: for a stranger, or another app."""
        team = payload.team.id if payload.team else ""
        if payload.user.team_id not in ("", team):
            return ""
        return self.known(payload.api_app_id, team, payload.user.id)

    def known(self, app_id: str, team: str, user: str) -> str:
        """Return the approver with these ids, or nothing."""
        if self.app_id and app_id != self.app_id:
            return ""
        return self.approvers.get(f"{team}:{user}", "")


class Clicks(Taking):
    """One handler for clicks by HTTP and by socket; close it to finish what it took.

    A click that was taken and not finished, for the process was killed, decided nothing: the
    message still shows its buttons.
    """

    def __init__(
        self,
        runs: Runs,
        approvals: Approvals,
        voice: Voice,
        people: People,
        around: Surroundings,
        *,
        ratings: Ratings,
    ) -> None:
        super().__init__()
        self._runs = runs
        self._approvals = approvals
        self._voice = voice
        self._people = people
        self._around = around
        self._ratings = ratings

    def take(self, text: str | bytes) -> dict[str, Any] | None:
        """Take an interaction and return what Slack has to hear at once, if anything.

        PermanentError for what is no interaction, FullError when there are too many.
        """
        payload = payloads.read(text)
        if payload.type == CLICKED and [one.action_id for one in payload.actions] == [PING]:
            return {"pong": payload.actions[0].value}
        reason = _typed(payload)
        if reason is not None and not reason.strip():
            return {"response_action": "errors", "errors": {REASON: TOO_SHORT}}
        self._room()
        self._begin(self._work(payload, reason or ""))
        return None

    async def _work(self, payload: Payload, reason: str) -> None:
        try:
            await self._answer(payload, reason)
        except UndecidedError as undecided:
            await self._say(payload, str(undecided))
        except TocsinError as error:
            log.warning("slack.click_undecided", why=str(error))
            await self._say(payload, answers.TRY_AGAIN)

    async def _answer(self, payload: Payload, reason: str) -> None:
        """Take the decision, or ask why first; UndecidedError with what the person has to hear."""
        click = _click(payload, reason)
        if click is None:
            await self._rate(payload)
            return
        ticket = Ticket.read(click.value)
        run = await self._runs.get(ticket.run_id) if ticket else None
        asked = run.fact(ApprovalRequested) if run else None
        if ticket is None or run is None or asked is None:
            raise UndecidedError(answers.NOT_OURS)
        approval = await self._approvals.get(run.id, asked.plan.plan_hash)
        by = self._approver(payload, approval)
        if asked.plan.short_hash != ticket.plan:
            raise UndecidedError(answers.replaced(asked.plan.short_hash))
        granted = click.answer is DecisionKind.GRANTED
        if granted and approval and not approval.quorum.takes(SURFACE):
            page = self._around.page(run.id)
            raise UndecidedError(answers.only_console(asked.plan.risk, page))
        if not granted and payload.type != SENT:
            await self._ask_why(payload, click, approval, by)
        else:
            await self._redeem(ticket, asked, click, by)

    async def _rate(self, payload: Payload) -> None:
        """Take what is said of a run; a click on anything else, such as a link, says nothing."""
        if wish := rating.read(payload):
            told = await self._ratings.take(wish, self._people.who(payload))
            await self._say(payload, told)

    def _approver(self, payload: Payload, approval: Approval | None) -> str:
        by = self._people.who(payload)
        if not by:
            team = payload.team.id if payload.team else ""
            known = approval.approvers if approval else ()
            raise UndecidedError(answers.stranger(team, payload.user.id, known))
        return by

    async def _redeem(
        self, ticket: Ticket, asked: ApprovalRequested, click: Click, by: str
    ) -> None:
        plan_hash = asked.plan.plan_hash
        taken = await self._approvals.redeem(
            run_id=ticket.run_id,
            plan_hash=plan_hash,
            surface=ticket.surface,
            nonce=ticket.nonce,
            answer=click.answer,
            by=by,
            reason=click.reason,
        )
        if taken.refusal:
            approval = await self._approvals.get(ticket.run_id, plan_hash)
            raise UndecidedError(answers.refused(taken, approval))
        log.info("slack.decided", run_id=ticket.run_id, answer=click.answer.value, by=by)

    async def _ask_why(
        self, payload: Payload, click: Click, approval: Approval | None, by: str
    ) -> None:
        """Open the window that asks for the reason, unless it would be asked in vain."""
        if refusal := answers.hopeless(approval, by):
            raise UndecidedError(refusal)
        channel = payload.channel.id if payload.channel else ""
        memory = Memory(value=click.value, channel=channel).model_dump_json()
        window = blocks.modal(REJECT, memory, "Reject", "Why not?", REASON)
        await self._voice.open_window(payload, window)

    async def _say(self, payload: Payload, text: str) -> None:
        try:
            await self._voice.whisper(payload, _channel(payload), text)
        except TocsinError as error:
            log.warning("slack.person_not_told", why=str(error))


def _typed(payload: Payload) -> str | None:
    """Return the reason that was typed; None unless it was asked for."""
    view = payload.view
    if payload.type != SENT or view is None or view.callback_id != REJECT:
        return None
    typed = view.state.values.get(REASON, {}).get(REASON)
    return (typed.value or "") if typed else ""


def _click(payload: Payload, reason: str) -> Click | None:
    """Return the decision that is wanted; None for clicks that decide nothing, such as on links."""
    if _typed(payload) is not None:
        memory = _memory(payload)
        return Click(DecisionKind.DENIED, memory.value, reason.strip()) if memory else None
    if payload.type != CLICKED or len(payload.actions) != 1:
        return None
    (action,) = payload.actions
    kinds = {APPROVE: DecisionKind.GRANTED, REJECT: DecisionKind.DENIED}
    kind = kinds.get(action.action_id)
    return Click(kind, action.value) if kind else None


def _memory(payload: Payload) -> Memory | None:
    view = payload.view
    try:
        return Memory.model_validate_json(view.private_metadata) if view else None
    except ValueError:
        return None


def _channel(payload: Payload) -> str:
    if payload.channel and payload.channel.id:
        return payload.channel.id
    memory = _memory(payload)
    return memory.channel if memory else ""
