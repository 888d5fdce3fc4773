"""What became of runs, and what people say of what they were told."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.base import Value
from tocsin_contracts.event import Event
from tocsin_contracts.states import RunState


class Rateable(StrEnum):
    """What people can rate of a run."""

    HYPOTHESIS = "hypothesis"
    FIX = "fix"


class Rated(Event):
    """Somebody said whether a hypothesis or a fix was useful; of one person the newest counts."""

    topic: ClassVar[str] = "run.rated.v1"

    by: str
    about: Rateable
    useful: bool
    text: str = Field(default="", max_length=1000, description="Of a person; shown as text.")
    surface: str = Field(default="", description="Where it was said, such as `gateway`.")


class RatingView(Value):
    """One rating, as it counts."""

    run_id: str
    by: str
    about: Rateable
    useful: bool
    text: str = ""
    at: AwareDatetime


class RatingsView(Value):
    """The ratings of one run."""

    ratings: tuple[RatingView, ...]


class PlanAnswer(StrEnum):
    """What became of the plans that a run put to people."""

    GRANTED = "granted"
    DENIED = "denied"
    EXPIRED = "expired"


class RunOutcome(Value):
    """What became of one run, from its events alone; what has not happened yet is null."""

    run_id: str
    version: int = Field(ge=0, description="Of the run; a later one replaces an earlier one.")
    source: str = Field(description="Of its alert.")
    began_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    outcome: RunState | None = Field(default=None, description="Null while it is open.")
    cause: str = Field(default="", description="The class of the hypothesis; empty: none.")
    answer: PlanAnswer | None = Field(default=None, description="The first that settled a plan.")
    seconds_to_answer: float | None = Field(
        default=None, ge=0, description="From the request for it; of an expiry null."
    )
    opened: bool = Field(default=False, description="Whether there was a pull request.")
    merged: bool = False
    reverted: bool = Field(default=False, description="Whether an undo of it was merged.")
    seconds_to_fix: float | None = Field(
        default=None, ge=0, description="From the run's beginning until its fix was verified."
    )
    cost: Decimal | None = Field(
        default=Decimal(0), description="US dollars of models; null: a price is not known."
    )


class Spread(Value):
    """How many durations there are, in seconds; without any the others are null."""

    count: int = 0
    median: float | None = None
    p90: float | None = None


class Thumbs(Value):
    """How many people found something useful, and how many did not."""

    useful: int = 0
    wrong: int = 0


class OutcomesTotal(Value):
    """Runs together. A rate is null where nothing happened that it could be of."""

    runs: int = 0
    ended: Mapping[RunState, int] = Field(default={}, description="Runs by how they ended.")
    answered: int = Field(default=0, description="Runs whose plan people settled, or let expire.")
    acceptance: float | None = Field(default=None, description="Granted, of those answered.")
    opened: int = Field(default=0, description="Runs with a pull request.")
    merge_rate: float | None = Field(default=None, description="Merged, of those opened.")
    revert_rate: float | None = Field(default=None, description="Reverted, of those merged.")
    to_answer: Spread = Spread()
    to_fix: Spread = Spread()
    cost: Decimal = Field(default=Decimal(0), description="US dollars that are known.")
    cost_unknown: int = Field(default=0, description="Runs whose cost nobody knows in full.")
    cost_per_run: Decimal | None = Field(
        default=None, description="Mean of the runs whose cost is known in full."
    )
    hypotheses: Thumbs = Thumbs()
    fixes: Thumbs = Thumbs()


class OutcomesView(Value):
    """What became of the runs that began within so many days."""

    days: int
    since: AwareDatetime
    total: OutcomesTotal
    sources: Mapping[str, OutcomesTotal] = Field(description="By the source of the alert.")
    runs: tuple[RunOutcome, ...] = Field(default=(), description="The newest first, at most 500.")
