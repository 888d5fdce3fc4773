"""What the triage graph remembers while it runs."""

from datetime import datetime
from typing import TypedDict

from tocsin_contracts import Alert, Correlation, Event


class TriageState(TypedDict, total=False):
    """One new run on its way through triage; `ended` says that a step has decided against it.

    `decisions` is what each step found, a sentence each; `answer` is what the run concludes.
    """

    run_id: str
    alert: Alert
    at: datetime
    decisions: list[str]
    freeze: str
    related: Correlation | None
    in_storm: str
    team: str
    environment: str
    auto_approve: str
    ended: bool
    answer: list[Event]
