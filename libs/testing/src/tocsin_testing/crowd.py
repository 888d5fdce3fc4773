"""What triage knows of all runs together, in memory."""

from datetime import datetime

from tocsin_contracts import RelatedAlert, RunId
from tocsin_kit.storms import Look, Place
from tocsin_kit.tickets import Turn
from tocsin_testing.build import NOW
from tocsin_testing.fakes import Outage


class FakeOpenRuns(Outage):
    """Cards of open runs, in the order of their times."""

    def __init__(self) -> None:
        self.cards: dict[str, datetime] = {}

    async def add(self, at: datetime, card: str) -> None:
        """Keep a card."""
        self._answer()
        self.cards.setdefault(card, at)

    async def newest(self, since: datetime, limit: int) -> list[str]:
        """Return the cards since a time, the newest first."""
        found = sorted(self.cards.items(), key=lambda one: one[1], reverse=True)
        return [card for card, at in found if at >= since][:limit]

    async def remove(self, card: str) -> None:
        """Forget a card."""
        self.cards.pop(card, None)


class FakeStorms(Outage):
    """A storm from a number of runs on, until a test says that it is over."""

    def __init__(self, threshold: int = 100) -> None:
        self._threshold = threshold
        self._runs: set[RunId] = set()
        self._leaders: dict[str, RunId] = {}
        self._storm = ""
        self.sight = Look(goes_on=True, digest=None)

    async def enter(self, run_id: RunId, root: str, replacing: str = "") -> Place | None:
        """Count a run."""
        self._answer()
        self._runs.add(run_id)
        if not self._storm and len(self._runs) <= self._threshold:
            return None
        self._storm = self._storm or run_id
        if self._leaders.setdefault(root, run_id) == replacing:
            self._leaders[root] = run_id
        return Place(self._storm, self._leaders[root], len(self._runs), NOW)

    async def look(self, storm: str) -> Look:
        """Return what the test says there is to see."""
        del storm
        return self.sight


class FakeJoined(Outage):
    """Which runs were superseded by which."""

    def __init__(self) -> None:
        self.joined: dict[RunId, dict[RunId, str]] = {}

    async def add(self, into: RunId, run_id: RunId, incident_key: str) -> None:
        """Keep one."""
        self.joined.setdefault(into, {})[run_id] = incident_key

    async def count(self, into: RunId) -> int:
        """Return how many a run has."""
        return len(self.joined.get(into, {}))

    async def of(self, into: RunId) -> dict[RunId, str]:
        """Return those of a run."""
        return dict(self.joined.get(into, {}))


class FakeTickets(Outage):
    """So many tickets, first come first served."""

    def __init__(self, limit: int = 16) -> None:
        self.limit = limit
        self.held: dict[RunId, tuple[int, str]] = {}
        self.left: list[RunId] = []

    async def take(self, run_id: RunId, rank: int, source: str) -> Turn:
        """Hand out a ticket while there are some."""
        self._answer()
        if run_id in self.held or len(self.held) < self.limit:
            self.held[run_id] = (rank, source)
            return Turn(granted=True, waiting=0)
        return Turn(granted=False, waiting=1)

    async def leave(self, run_id: RunId) -> None:
        """Take a ticket back."""
        self.left.append(run_id)
        self.held.pop(run_id, None)


class FakeLateNews(Outage):
    """What joined which run, each alert once."""

    def __init__(self) -> None:
        self.news: dict[RunId, dict[str, RelatedAlert]] = {}

    async def add(self, run_id: RunId, news: RelatedAlert) -> None:
        """Keep one, unless it is known."""
        self._answer()
        self.news.setdefault(run_id, {}).setdefault(news.alert.fingerprint, news)

    async def of(self, run_id: RunId) -> tuple[RelatedAlert, ...]:
        """Return those of a run."""
        self._answer()
        return tuple(self.news.get(run_id, {}).values())
