"""What the gateway asks of the world, and what people ask of it."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, Field

from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    Event,
    RelatedAlert,
    RunFinished,
    RunId,
    RunState,
)
from tocsin_contracts.views import DecisionKind
from tocsin_kit.approvals import Approval, Redeemed
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally

SUMMED_UP: tuple[type[Event], ...] = (AlertAccepted, AlertRepeated, RunFinished)
"""The facts that one line about a run is made of."""


class Runs(Protocol):
    """Reads runs."""

    async def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""

    async def recent(
        self, limit: int, state: RunState | None = None, *, kinds: Sequence[type[Event]] = ()
    ) -> list[Run]:
        """Return the newest runs first, of one state, and with these facts, only if given."""


class LateNews(Protocol):
    """The alerts that joined runs after they were opened."""

    async def of(self, run_id: RunId) -> tuple[RelatedAlert, ...]:
        """Return those of a run."""


class Tallies(Protocol):
    """What the receiver counted of the deliveries of runs."""

    async def many(self, wanted: Sequence[tuple[str, RunId]]) -> list[Tally | None]:
        """Return the counts of each run by the key of its incident; None where none are kept."""

    async def one(self, incident_key: str, run_id: RunId) -> Tally | None:
        """Return the counts of one run, with its alerts."""


class Approvals(Protocol):
    """Shows approvals and takes decisions."""

    async def get(self, run_id: RunId, plan_hash: str) -> Approval | None:
        """Return the approval of a plan, or None."""

    async def decide(
        self,
        *,
        run_id: RunId,
        plan_hash: str,
        surface: str,
        answer: DecisionKind,
        by: str,
        reason: str,
        break_glass: bool = False,
    ) -> Redeemed:
        """Take the decision of an authenticated person exactly once."""


class Canceller(Protocol):
    """Raises the flag that stops the work on a run."""

    async def cancel(self, run_id: RunId) -> None:
        """Raise it."""


class Publisher(Protocol):
    """Publishes facts."""

    async def publish(self, event: Event) -> None:
        """Return once the bus has stored the event."""


class Verdict(BaseModel):
    """What a person says about the plan with this hash."""

    plan_hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="The plan that was looked at.")
    reason: str = Field(default="", max_length=1000)
    break_glass: bool = Field(
        default=False, description="Whether to say yes alone, past the rules of who has to."
    )


class Cancel(BaseModel):
    """Why a run should stop."""

    reason: str = Field(default="", max_length=1000)
