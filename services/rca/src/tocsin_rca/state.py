"""What the rca graph remembers while it runs."""

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
    """One attempt at one alert. What was seen stays in memory: it is looked at again if lost."""

    run_id: str
    alert: Alert
    attempt: int
    rejected: list[CauseClass]
    rejections: list[Rejection]
    objects: list[ObjectRef]
    findings: list[Finding]
    answer: HypothesisFormed | InvestigationInconclusive
