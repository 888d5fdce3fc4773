"""What the notifier asks of the world."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from starlette.types import ASGIApp

from tocsin_contracts import Event, RunId
from tocsin_contracts.chat import ChatAnswered
from tocsin_contracts.views import DecisionKind
from tocsin_kit.approvals import Approval, Redeemed
from tocsin_kit.cards import Card
from tocsin_kit.notices import Told
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally
from tocsin_kit.timers import Timer


@dataclass(frozen=True, slots=True)
class Message:
    """One thing to tell people; the id is that of the event it tells of.

    `link` leads to the run in the console; empty where nobody said how it is reached.
    """

    id: str
    run_id: RunId
    title: str
    text: str
    event: Event | None = None
    link: str = ""


class Channel(Protocol):
    """One way to reach people."""

    @property
    def name(self) -> str:
        """The name that settings use."""

    async def send(self, message: Message) -> None:
        """Show the message; TransientError to be called again, PermanentError to give up."""


class Notices(Protocol):
    """What was told already."""

    async def of(self, run_id: RunId) -> Told:
        """Return what became of the messages of a run."""

    async def settle(self, run_id: RunId, message_id: str, channel: str) -> None:
        """Remember that a channel has shown a message."""

    async def hold(self, run_id: RunId, message_id: str, channel: str) -> None:
        """Remember that a channel holds a message; one that it has shown stays so."""


class Timers(Protocol):
    """Clocks that outlive this process."""

    async def set_timer(self, timer: Timer) -> None:
        """Store a timer; the same one twice is one."""


class Follower(Channel, Protocol):
    """A channel whose messages change after they were shown."""

    async def follow(self, event: Event) -> None:
        """Show what the event changed in what people see; TransientError to be called again."""


@dataclass(frozen=True, slots=True)
class TwoWay:
    """A channel through which people answer, and what of it runs in the service."""

    channel: Follower
    answered: Callable[[ChatAnswered], Awaitable[None]]
    resources: Sequence[AbstractAsyncContextManager[Any]]
    http: ASGIApp | None
    background: Sequence[Callable[[], Awaitable[None]]]


class Runs(Protocol):
    """Reads runs."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""


class Tallies(Protocol):
    """What the receiver counted of the deliveries of runs."""

    async def one(self, incident_key: str, run_id: RunId) -> Tally | None:
        """Return the counts of one run; None where none are kept."""


class Approvals(Protocol):
    """Shows approvals, and takes decisions by nonces."""

    async def get(self, run_id: RunId, plan_hash: str) -> Approval | None:
        """Return the approval of a plan, or None."""

    async def mint(self, run_id: RunId, plan_hash: str, surface: str) -> str:
        """Return a new single-use nonce for a surface."""

    async def void(self, run_id: RunId, plan_hash: str, surface: str) -> None:
        """Take the nonce of a surface back."""

    async def redeem(
        self,
        *,
        run_id: RunId,
        plan_hash: str,
        surface: str,
        nonce: str,
        answer: DecisionKind,
        by: str,
        reason: str,
    ) -> Redeemed:
        """Take a decision exactly once."""


class Cards(Protocol):
    """Where messages stand that are edited later."""

    def held(self, subject: str) -> AbstractAsyncContextManager[None]:
        """Be the only one who changes the message about a subject."""

    async def get(self, subject: str) -> Card:
        """Return the record; an empty one where nothing was shown yet."""

    async def put(self, subject: str, card: Card) -> None:
        """Keep the record."""

    async def posting(self, subject: str, name: str, now: datetime) -> datetime | None:
        """Write down that something will be posted; return since when it was, if before."""

    async def posted(self, subject: str, name: str, ts: str) -> None:
        """Write down where it stands."""

    async def where(self, subject: str, name: str) -> str:
        """Return where something stands that was posted; empty if nobody knows of it."""

    async def forget(self, subject: str, name: str) -> None:
        """Strike out a post that stands nowhere any more."""


class Publisher(Protocol):
    """Publishes facts."""

    async def publish(self, event: Event) -> None:
        """Return once the bus has stored the event."""
