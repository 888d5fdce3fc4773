"""Timers as stored messages: they survive every process and come due by the server's clock."""

from typing import ClassVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from tocsin_contracts import Event, RunId, derive_id
from tocsin_kit.topology import TimerKind, timer_subject


class TimerDue(Event):
    """A timer seen as an event, so that it runs under the same protocol."""

    topic: ClassVar[str] = "timer.due.v1"


class Timer(BaseModel):
    """One thing to look at later. A timer is never taken back: a late one finds nothing to do."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: TimerKind
    run_id: RunId
    due_at: AwareDatetime
    about: str = Field(default="", description="What it is about, such as an approval id.")

    @property
    def id(self) -> str:
        """The same timer set twice is one timer."""
        at = self.due_at.isoformat()
        return derive_id(f"{self.run_id}:{self.about}:{at}", f"timer.{self.kind}")

    @property
    def set_subject(self) -> str:
        """Where it is stored until it is due."""
        return timer_subject("set", self.kind, self.run_id)

    @property
    def due_subject(self) -> str:
        """Where its owner hears of it."""
        return timer_subject("due", self.kind, self.run_id)

    def as_event(self) -> TimerDue:
        """Return the event that stands for this timer in the run's record."""
        return TimerDue(run_id=self.run_id, id=self.id, at=self.due_at)
