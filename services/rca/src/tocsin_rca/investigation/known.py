"""What an attempt knows before a model is asked: findings, evidence, and what was ruled out."""

from dataclasses import dataclass
from datetime import datetime

from tocsin_contracts import (
    Alert,
    Evidence,
    Finding,
    HypothesisFormed,
    InvestigationInconclusive,
    ObjectRef,
    Rejection,
    RunId,
)
from tocsin_rca.evidence.conclusion import DECISIVE

Answer = HypothesisFormed | InvestigationInconclusive


@dataclass(frozen=True, slots=True)
class Known:
    """One attempt as the analyzers leave it; `answer` is what it comes to without a model.

    `since` is when a model could first be asked: after the event, its queue and the analyzers.
    """

    answer: Answer
    attempt: int
    objects: frozenset[ObjectRef]
    rejections: tuple[Rejection, ...]
    since: datetime

    @property
    def run_id(self) -> RunId:
        """The run it belongs to."""
        return self.answer.run_id

    @property
    def alert(self) -> Alert:
        """The alert that is investigated."""
        return self.answer.alert

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What was seen."""
        if isinstance(self.answer, HypothesisFormed):
            return self.answer.hypothesis.evidence
        return self.answer.evidence

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the analyzers found and no check ruled out, the one that leads first."""
        if isinstance(self.answer, HypothesisFormed):
            return (self.answer.hypothesis.finding, *self.answer.hypothesis.alternatives)
        return self.answer.candidates

    @property
    def is_decided(self) -> bool:
        """Whether a finding is so sure that nobody else need be asked."""
        return any(finding.confidence >= DECISIVE for finding in self.findings)
