"""What the rca graph remembers while it runs."""

from typing import TypedDict

from tocsin_contracts import Alert, CauseClass, Event, Finding


class RcaState(TypedDict, total=False):
    """One attempt at one alert. What was seen stays in memory: it is looked at again if lost."""

    run_id: str
    alert: Alert
    attempt: int
    rejected: list[CauseClass]
    findings: list[Finding]
    answer: Event
