"""What is different between two conclusions about the same alert; pure."""

from collections.abc import Iterable, Iterator

from tocsin_contracts import (
    CauseClass,
    FieldChange,
    Finding,
    HypothesisFormed,
    InvestigationInconclusive,
    Value,
)
from tocsin_rca.evidence.remedy import words

Conclusion = HypothesisFormed | InvestigationInconclusive


class Summary(Value):
    """A conclusion in a form that can be compared; evidence is left out, as its ids may differ."""

    verdict: str
    why: str = ""
    cause: CauseClass | None = None
    object: str = ""
    confidence: float = 0
    summary: str = ""
    change: FieldChange | None = None
    further: tuple[FieldChange, ...] = ()
    others: tuple[CauseClass, ...] = ()


def summary(told: Conclusion) -> Summary:
    """Return the summary of a conclusion."""
    if isinstance(told, HypothesisFormed):
        hypothesis = told.hypothesis
        return _of(hypothesis.verdict.value, "", hypothesis.finding, hypothesis.alternatives)
    best, *others = told.candidates or (None,)
    return _of("inconclusive", told.why, best, (one for one in others if one))


def differences(then: Summary, now: Summary) -> Iterator[str]:
    """Yield a line for each field that differs."""
    for name in Summary.model_fields:
        old, new = getattr(then, name), getattr(now, name)
        if old != new:
            yield f"{name}: {_written(old)} -> {_written(new)}"


def _of(verdict: str, why: str, best: Finding | None, others: Iterable[Finding]) -> Summary:
    causes = tuple(one.cause for one in others)
    if best is None:
        return Summary(verdict=verdict, why=why, others=causes)
    return Summary(
        verdict=verdict,
        why=why,
        cause=best.cause,
        object=str(best.object),
        confidence=round(best.confidence, 3),
        summary=best.summary,
        change=best.change,
        further=best.further,
        others=causes,
    )


def _written(value: object) -> str:
    if isinstance(value, FieldChange):
        return words(value)
    if isinstance(value, tuple):
        return ", ".join(_written(one) for one in value) or "none"
    return str(value) if value not in (None, "") else "none"
