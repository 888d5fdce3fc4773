"""How runs end, on request or by themselves."""

from typing import ClassVar

from pydantic import AwareDatetime, Field, field_validator

from tocsin_contracts.event import Event
from tocsin_contracts.states import EndReason, RunState


class RunCancelRequested(Event):
    """A person wants the run to stop; the flag on the run reaches whoever works on it."""

    topic: ClassVar[str] = "run.cancel-requested.v1"

    by: str
    reason: str = ""


class RunFinished(Event):
    """The run ended, with a reason from a closed list and a sentence a person can read."""

    topic: ClassVar[str] = "run.finished.v1"

    outcome: RunState
    reason: EndReason
    sentence: str
    reopens_at: AwareDatetime | None = Field(
        default=None, description="From when on alerts that still fire open a new run."
    )

    @property
    def state(self) -> RunState:
        """The terminal state that this very ending leads to."""
        return self.outcome

    @field_validator("outcome")
    @classmethod
    def _terminal(cls, outcome: RunState) -> RunState:
        if not outcome.terminal:
            raise ValueError(f"a run cannot end as {outcome.value}")
        return outcome
