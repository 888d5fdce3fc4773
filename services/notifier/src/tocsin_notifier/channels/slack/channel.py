"""The Slack channel: each incident is one message that ends up showing the true state."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from tocsin_contracts import AlertAccepted, AlertRepeated, Event, StormEnded, StormStarted
from tocsin_kit.cards import Card
from tocsin_kit.clock import Clock
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.run_view import Run
from tocsin_notifier.channels.slack import blocks, card, notes, text
from tocsin_notifier.channels.slack.blocks import Shown
from tocsin_notifier.channels.slack.buttons import Buttons
from tocsin_notifier.channels.slack.card import Surroundings
from tocsin_notifier.channels.slack.notes import Note
from tocsin_notifier.channels.slack.posting import Posting
from tocsin_notifier.channels.slack.view import View
from tocsin_notifier.channels.slack.web import GoneError, Place, Web
from tocsin_notifier.ports import Approvals, Cards, Message, Runs, Tallies

CARD = "card"
AT_ONCE = 0.1


@dataclass(frozen=True, slots=True)
class Routes:
    """Which channel a team reads; those without one share the default."""

    default: str
    by_team: Mapping[str, str]

    def of(self, team: str) -> str:
        """Return the channel of a team."""
        return self.by_team.get(team, self.default)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the state comes from that messages show."""

    runs: Runs
    approvals: Approvals
    tallies: Tallies


class SlackChannel:
    """Shows incidents in Slack: the message is the state, its thread is the story.

    What is shown is read when it is shown, so whatever Slack could not take meanwhile is skipped
    and the newest state wins.
    """

    name = "slack"

    def __init__(
        self,
        web: Web,
        cards: Cards,
        sources: Sources,
        *,
        routes: Routes,
        around: Surroundings,
        clock: Clock,
    ) -> None:
        self._posting = Posting(web, cards, clock)
        self._buttons = Buttons(sources.approvals)
        self._cards = cards
        self._sources = sources
        self._routes = routes
        self._around = around

    async def send(self, message: Message) -> None:
        """Show the state of the message's run, and tell of the step in the thread."""
        event = message.event
        if event is None:
            raise PermanentError("slack channel: a message without its event")
        run = await self._sources.runs.get(message.run_id)
        if run is None or isinstance(event, StormStarted | StormEnded):
            await self._tell_plainly(message, event)
            return
        subject = _subject(run)
        async with self._cards.held(subject):
            known = await self._cards.get(subject)
            shown = await self._refresh(subject, known, run)
            note = notes.of(message, shown.runs if shown.run_id == run.id else 1)
            if note:
                await self._tell(subject, shown, event, note)

    async def follow(self, event: Event) -> None:
        """Show what an event changed about a run that has a message; others need none."""
        run = await self._sources.runs.get(event.run_id)
        if run is None:
            return
        subject = _subject(run)
        if not (await self._cards.get(subject)).ts:
            return
        async with self._cards.held(subject):
            known = await self._cards.get(subject)
            if known.run_id != run.id:
                return
            shown = await self._refresh(subject, known, run)
            note = notes.repeated(event) if isinstance(event, AlertRepeated) else None
            if note:
                await self._tell(subject, shown, event, note)

    async def _refresh(self, subject: str, known: Card, run: Run) -> Card:
        """Bring the message up to date; that of a newer run is left as it is."""
        if known.run_id != run.id and known.opened_at and known.opened_at > run.created_at:
            return known
        if known.run_id == run.id and known.version > run.version:
            return known
        runs = known.runs + (known.run_id != run.id)
        view = await self._view(run, runs)
        wanted = card.render(view, self._around, _SAMPLE if view.waits else "")
        digest = _digest(wanted)
        if known.ts and known.run_id == run.id and known.shown == digest:
            return known
        place = Place(known.channel or self._routes.of(view.team), known.ts)
        label, value = await self._buttons.mint(view, needed=self._around.buttons)
        posted = await self._show(subject, place, card.render(view, self._around, value))
        now = Card(
            channel=posted.channel,
            ts=posted.ts,
            run_id=run.id,
            opened_at=run.created_at,
            runs=runs,
            version=run.version,
            shown=digest,
            label=label,
            plan_hash=view.asked.plan.plan_hash if view.asked and label else "",
        )
        await self._cards.put(subject, now)
        await self._buttons.void(known)
        return now

    async def _show(self, subject: str, place: Place, shown: Shown) -> Place:
        """Edit the message, or post it if there is none, or none any more."""
        if place.ts:
            try:
                await self._posting.again(subject, CARD, place, shown)
            except GoneError:
                await self._cards.forget(subject, CARD)
            else:
                return place
        return await self._posting.once(subject, CARD, Place(place.channel, ""), shown)

    async def _view(self, run: Run, runs: int) -> View:
        bare = View(run=run, runs=runs)
        tally = await self._sources.tallies.one(_incident(run), run.id)
        asked = bare.asked
        approvals = self._sources.approvals
        approval = await approvals.get(run.id, asked.plan.plan_hash) if asked else None
        return View(run=run, runs=runs, tally=tally, approval=approval)

    async def _tell(self, subject: str, shown: Card, event: Event, note: Note) -> None:
        """Reply to the message; one that somebody deleted is posted anew before that."""
        place = Place(shown.channel, shown.ts)
        try:
            await self._posting.once(subject, event.id, place, note.shown, loud=note.loud)
        except GoneError as error:
            await self._cards.forget(subject, CARD)
            await self._cards.put(subject, shown.model_copy(update={"ts": "", "shown": ""}))
            raise TransientError(str(error), retry_in=AT_ONCE) from None

    async def _tell_plainly(self, message: Message, event: Event) -> None:
        """Post what stands for no run: a storm, or a run that the store forgot."""
        storm = event.storm if isinstance(event, StormStarted | StormEnded) else ""
        subject = f"storm|{storm}" if storm else f"run|{message.run_id}"
        async with self._cards.held(subject):
            known = await self._cards.get(subject)
            if known.ts and (note := notes.of(message, 1)):
                await self._tell(subject, known, event, note)
            elif not known.ts:
                shown = _plainly(message)
                place = Place(self._routes.of(""), "")
                posted = await self._posting.once(subject, event.id, place, shown)
                await self._cards.put(subject, Card(channel=posted.channel, ts=posted.ts))


_SAMPLE = "value"
"""Stands for the nonce in what is compared: a new one alone is nothing new to show."""


def _subject(run: Run) -> str:
    """Return what a message is about: the incident, however many runs it has had."""
    return _incident(run) or f"run|{run.id}"


def _incident(run: Run) -> str:
    accepted = run.fact(AlertAccepted)
    return accepted.incident_key if accepted else ""


def _plainly(message: Message) -> Shown:
    words = text.escaped(f"{message.title}\n{message.text}", blocks.SECTION)
    return Shown(words, (blocks.section(words),))


def _digest(shown: Shown) -> str:
    told = json.dumps([shown.text, shown.blocks], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()
