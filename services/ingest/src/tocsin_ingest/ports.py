"""What ingest asks of the world."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from tocsin_contracts import Alert, AlertStatus, Event, RunId
from tocsin_ingest.triage.silences import Silence
from tocsin_kit.intake import Admission
from tocsin_kit.run_view import Run
from tocsin_kit.storms import Look, Place
from tocsin_kit.tally import Tally
from tocsin_kit.tickets import Turn
from tocsin_kit.timers import Timer


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One request of a sender, verified and decoded; header names are in lower case.

    `path` has what the names in braces of its endpoint stand for.
    """

    payload: Any
    received_at: datetime
    headers: Mapping[str, str] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One more address of a source, for senders that make it of a base URL: `v2/alerts/{alias}`.

    It stands below the source's own, without an instance. What comes in place of `{token}` is taken
    for the sender's token, unless a header has one, and is handed to nobody.
    """

    path: str
    methods: tuple[str, ...] = ("POST",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One alert in its sender's own words; what it means to us is decided in one other place.

    `key` is what the sender itself calls the alert, where its labels do not tell it apart; without
    one the labels are its identity. `severity` is kept as it was written; `scale` is what its
    sender calls numbers there.
    """

    title: str
    labels: Mapping[str, str]
    status: AlertStatus = AlertStatus.FIRING
    severity: str = ""
    scale: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    key: str = ""


class AlertSource(Protocol):
    """Understands one vendor's webhook.

    One with a true `repeatable` reads nothing but the body, and the time only to see whether an end
    has come: what it made of a body once is what it would make of it again. `takes_forms` says that
    it reads forms too, `endpoints` where else it is reached.
    """

    @property
    def name(self) -> str:
        """The last part of the webhook's path."""

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return every alert of one request, firing and resolved; a mere ping has none.

        Raises BadPayloadError that names what is missing or wrong.
        """


def endpoints_of(source: AlertSource) -> Sequence[Endpoint]:
    """Return the further addresses of a source; most have none, and need not say so."""
    endpoints: Sequence[Endpoint] = getattr(source, "endpoints", ())
    return endpoints


class BadPayloadError(ValueError):
    """A body that can be read and is no webhook of its source."""


class Taker(Protocol):
    """Takes alerts in."""

    async def take_all(self, alerts: Sequence[Alert]) -> list[Admission]:
        """Take the alerts of one request, in order; TransientError if one could not be stored."""


class Intake(Protocol):
    """The record of which run an alert belongs to."""

    async def admit(self, incident_key: str, alert: Alert) -> Admission:
        """Attach the alert to a run, or open one."""

    async def tell(self, admission: Admission) -> None:
        """Publish the news of it; returns once the bus has stored it."""

    async def close(
        self, incident_key: str, run_id: RunId, reopens_at: datetime | None = None
    ) -> None:
        """Let the next episode open a new run, and from a time on the same one."""

    async def disown(self, incident_key: str, run_id: RunId, fingerprint: str) -> bool:
        """Close an incident whose ended run got a later alert; whether that has no newer run."""


class Runs(Protocol):
    """Makes the record of a new run."""

    async def create(self, event: Event) -> None:
        """Make it; doing it again changes nothing."""


class Reader(Protocol):
    """Reads runs."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""


@dataclass(frozen=True, slots=True)
class SilencesRead:
    """Silences of somebody else, and what is wrong with them, if anything is."""

    silences: tuple[Silence, ...] = ()
    problem: str = ""


class PullRuns(Protocol):
    """Knows which run opened a pull request."""

    async def run_of(self, repo: str, head_branch: str, url: str) -> RunId | None:
        """Return the run of a pull request by its address or else its branch, or None."""


class Publisher(Protocol):
    """Publishes what did not come from a run."""

    async def publish(self, event: Event) -> None:
        """Return once the bus has stored it; TransientError if it did not say so."""


class RemoteSilences(Protocol):
    """Reads silences that are kept elsewhere; never raises because nobody answers."""

    async def read(self) -> SilencesRead:
        """Return them as they were some seconds ago at most."""


class OpenRuns(Protocol):
    """The newest open runs, each as a text that says what it is about."""

    async def add(self, at: datetime, card: str) -> None:
        """Remember one."""

    async def newest(self, since: datetime, limit: int) -> list[str]:
        """Return those since a time, the newest first."""

    async def remove(self, card: str) -> None:
        """Forget one that has ended."""


class Storms(Protocol):
    """Counts new runs."""

    async def enter(self, run_id: RunId, root: str, replacing: str = "") -> Place | None:
        """Count one; None where there is no storm."""

    async def look(self, storm: str) -> Look:
        """Return whether a storm goes on, or what it was made of."""


class Tickets(Protocol):
    """Says whose investigation may begin."""

    async def take(self, run_id: RunId, rank: int, source: str) -> Turn:
        """Ask for a turn."""

    async def leave(self, run_id: RunId) -> None:
        """Give back whatever the run holds."""


class Joined(Protocol):
    """Which runs were superseded by which."""

    async def add(self, into: RunId, run_id: RunId, incident_key: str) -> None:
        """Remember one, with the key of its incident."""

    async def count(self, into: RunId) -> int:
        """Return how many a run has."""

    async def of(self, into: RunId) -> Mapping[RunId, str]:
        """Return those of a run, each with the key of its incident."""


class Tallies(Protocol):
    """Reads what the receiver counted."""

    async def many(self, wanted: Sequence[tuple[str, RunId]]) -> list[Tally | None]:
        """Return the counts of each run by the key of its incident; None where none are kept."""


class Timers(Protocol):
    """Things to look at later."""

    async def set_timer(self, timer: Timer) -> None:
        """Set it; the same one twice is one."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """What is known of all runs together, and of each."""

    reader: Reader
    open_runs: OpenRuns
    storms: Storms
    tickets: Tickets
    joined: Joined
    tallies: Tallies
    timers: Timers
    publisher: Publisher

    async def is_open(self, run_id: RunId) -> bool:
        """Whether a run is there that has not ended."""
        run = await self.reader.get(run_id)
        return run is not None and not run.state.terminal
