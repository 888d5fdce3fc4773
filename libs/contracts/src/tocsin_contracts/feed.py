"""One line of the feed of facts: what a dashboard is told of an event, never its whole body."""

from pydantic import AwareDatetime, Field

from tocsin_contracts.alert import Severity
from tocsin_contracts.base import Value
from tocsin_contracts.event import RunId
from tocsin_contracts.states import RunState


class FactView(Value):
    """A fact in a sentence, with its number: later facts have higher ones."""

    number: int = Field(ge=1, description="Its place in the stream; resume after it.")
    id: str
    topic: str
    run_id: RunId
    at: AwareDatetime
    producer: str
    state: RunState | None = Field(
        default=None, description="What it makes of the run, if it does."
    )
    severity: Severity | None = Field(
        default=None, description="Of the run's alert, as it was told last; null if nobody knows."
    )
    title: str = Field(default="", description="Of the run's alert, as it was told last.")
    text: str
