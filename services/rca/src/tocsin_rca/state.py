"""What the rca graph remembers while it runs."""

from datetime import datetime
from typing import TypedDict

from tocsin_contracts import (
    Alert,
    CauseClass,
    Finding,
    HypothesisFormed,
    InvestigationInconclusive,
    ObjectRef,
    Rejection,
)


class RcaState(TypedDict, total=False):
    """One attempt at one alert. What was seen stays in memory: it is looked at again if lost.

    `concluded` is when the analyzers had their last word.
    """

    run_id: str
    alert: Alert
    attempt: int
    rejected: list[CauseClass]
    rejections: list[Rejection]
    objects: list[ObjectRef]
    findings: list[Finding]
    answer: HypothesisFormed | InvestigationInconclusive
    concluded: datetime
