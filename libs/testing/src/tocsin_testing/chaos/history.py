"""What a history of faults left behind: all that the checker may look at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tocsin_contracts import Event, RunId, RunState
from tocsin_contracts.views import DecisionKind


@dataclass(frozen=True, slots=True)
class Said:
    """A person was about to decide; whether anybody heard it is another matter."""

    at: datetime
    run_id: RunId
    plan_hash: str
    answer: DecisionKind


@dataclass(frozen=True, slots=True)
class Committed:
    """The forge put a commit on a branch; `old` is where the branch was, empty for a new one."""

    at: datetime
    branch: str
    old: str
    commit: str
    parent: str
    plan_hash: str


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request as the forge shows it at the end."""

    number: int
    branch: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A message as a channel shows it at the end; no state is one that nobody understands."""

    run_id: RunId
    state: RunState | None


@dataclass(frozen=True, slots=True)
class History:
    """The event stream in its order, the logs of forge and channel, and what clients did.

    `taken` are the runs that an answer with 2xx named, `waiting` what consumers had left at the
    end, `parked` the causes of dead letters, `secrets` what nobody may see and `places` every text
    in which it could be.
    """

    facts: tuple[Event, ...]
    taken: tuple[RunId, ...] = ()
    said: tuple[Said, ...] = ()
    commits: tuple[Committed, ...] = ()
    pulls: tuple[Pull, ...] = ()
    cards: tuple[Card, ...] = ()
    waiting: Mapping[str, int] = field(default_factory=dict)
    parked: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
