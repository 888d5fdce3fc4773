"""Posting once: what may stand in the chat already is looked for before it is posted again."""

from collections.abc import Awaitable, Callable

from tocsin_kit import logging
from tocsin_kit.clock import Clock
from tocsin_notifier.channels.slack.blocks import Shown
from tocsin_notifier.channels.slack.web import Place, UnreadableError, Web
from tocsin_notifier.ports import Cards

log = logging.get(__name__)


class Posting:
    """Posts messages and replies, and knows them again after a crash.

    Between posting and writing down where it stands, a crash leaves a message that nobody knows
    of. The next try looks for its key in the channel: it shows one message, if the app may read
    the channel and the message is among the newest thousand; otherwise it may be shown twice, and
    is never lost.
    """

    def __init__(self, web: Web, cards: Cards, clock: Clock) -> None:
        self._web = web
        self._cards = cards
        self._clock = clock

    async def once(
        self, subject: str, name: str, place: Place, shown: Shown, *, loud: bool = False
    ) -> Place:
        """Post something about a subject unless it stands there; return where it does."""
        if known := await self._cards.where(subject, name):
            return Place(place.channel, known)
        key = f"{subject}\n{name}"
        since = await self._cards.posting(subject, name, self._clock.now())
        found = await self._web.find(place, key, since) if since else ""
        if found:
            log.info("slack.found_again", name=name)
            posted = Place(place.channel, found)
        else:
            posted = await readable(shown, lambda it: self._web.post(place, it, key, loud=loud))
        await self._cards.posted(subject, name, posted.ts)
        return posted

    async def again(self, subject: str, name: str, place: Place, shown: Shown) -> None:
        """Put other words in the place of a message."""

        async def update(it: Shown) -> Place:
            await self._web.update(place, it, f"{subject}\n{name}")
            return place

        await readable(shown, update)


async def readable(shown: Shown, show: Callable[[Shown], Awaitable[Place]]) -> Place:
    """Show it; in plain words where Slack refuses the blocks, for no message may be lost."""
    try:
        return await show(shown)
    except UnreadableError as error:
        if not shown.blocks:
            raise
        log.warning("slack.blocks_refused", why=str(error))
        return await show(Shown(shown.text))
