"""What operators do to runs and to dead letters, beside deciding about plans."""

from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.base import Value
from tocsin_contracts.event import Event, RunId
from tocsin_contracts.states import RunState

NO_RUN = RunId("-")
"""Stands for the run of a dead letter whose subject names none."""


class RunRerun(Event):
    """A person had the alerts of an ended run looked at again, by a new run."""

    topic: ClassVar[str] = "run.rerun.v1"

    of: RunId = Field(description="The run that has ended.")
    by: str
    reason: str = ""


class RunEscalationRequested(Event):
    """A person takes a run over that nobody has decided about yet."""

    topic: ClassVar[str] = "run.escalation-requested.v1"

    by: str
    reason: str = ""


class DeadLetterReplayed(Event):
    """A message that a service had given up is given again, as a new one."""

    topic: ClassVar[str] = "operations.dead-letter-replayed.v1"

    number: int = Field(ge=1, description="Of the letter.")
    by: str
    reason: str = ""
    service: str = Field(description="Who had given it up.")
    what: str = Field(description="The topic of the message.")
    why: str = Field(description="Why it had been given up.")
    reopens: RunState | None = Field(
        default=None, description="Where its run goes on, if the letter had ended it."
    )

    @property
    def state(self) -> RunState | None:
        """Where the run goes on."""
        return self.reopens


class DeadLetterDiscarded(Event):
    """A message that a service had given up will not be given again."""

    topic: ClassVar[str] = "operations.dead-letter-discarded.v1"

    number: int = Field(ge=1, description="Of the letter.")
    by: str
    reason: str
    service: str = Field(description="Who had given it up.")
    what: str = Field(description="The topic of the message.")
    why: str = Field(description="Why it had been given up.")


class DeadLetter(Value):
    """A message that a service has given up; what looks like a secret in it is masked."""

    number: int = Field(ge=1, description="Its place among all letters; it never changes.")
    at: AwareDatetime = Field(description="When it was given up.")
    service: str = Field(description="Who gave it up.")
    run_id: str
    topic: str = Field(description="What it tells, or the timer that it is.")
    subject: str
    event_id: str
    cause: str = Field(description="Why it was given up.")
    tries: int = Field(default=0, ge=0, description="How often it was given; 0 if nobody says.")
    ended_run: bool = Field(default=False, description="Whether the run was ended for it.")
    whole: bool = Field(default=True, description="Whether all of the message is kept.")
    body: str = Field(default="", description="The message; lists leave it out.")


class DeadLetterPage(Value):
    """The newest letters, and how many there are."""

    letters: tuple[DeadLetter, ...]
    total: int = Field(ge=0)


class RerunView(Value):
    """A new run of the same alerts."""

    run_id: str
    of: str
    by: str
    at: AwareDatetime


class EscalateView(Value):
    """A person took a run over."""

    run_id: str
    by: str
    at: AwareDatetime
