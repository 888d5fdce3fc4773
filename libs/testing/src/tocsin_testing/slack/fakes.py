"""Where messages stand, in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from tocsin_kit.cards import Card


class FakeCards:
    """Records of messages, for one worker."""

    def __init__(self) -> None:
        self.cards: dict[str, Card] = {}
        self.begun: dict[tuple[str, str], datetime] = {}
        self.at: dict[tuple[str, str], str] = {}

    @asynccontextmanager
    async def held(self, subject: str) -> AsyncIterator[None]:
        """Be the only one, as this worker is."""
        del subject
        yield

    async def get(self, subject: str) -> Card:
        """Return the record."""
        return self.cards.get(subject, Card())

    async def put(self, subject: str, card: Card) -> None:
        """Keep the record."""
        self.cards[subject] = card

    async def shown_at(self, channel: str, ts: str) -> str:
        """Return the run that a message shows."""
        shown = (card for card in self.cards.values() if (card.channel, card.ts) == (channel, ts))
        return next((card.run_id for card in shown), "")

    async def posting(self, subject: str, name: str, now: datetime) -> datetime | None:
        """Keep that something will be posted; return since when it was, if before."""
        before = self.begun.get((subject, name))
        self.begun.setdefault((subject, name), now)
        return before

    async def posted(self, subject: str, name: str, ts: str) -> None:
        """Keep where it stands."""
        self.at[subject, name] = ts

    async def where(self, subject: str, name: str) -> str:
        """Return where it stands, or nothing."""
        return self.at.get((subject, name), "")

    async def forget(self, subject: str, name: str) -> None:
        """Strike it out."""
        self.begun.pop((subject, name), None)
        self.at.pop((subject, name), None)
