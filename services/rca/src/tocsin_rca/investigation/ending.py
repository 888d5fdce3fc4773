"""What an attempt comes to where a model has not found the cause, or was not there to."""

from collections.abc import Iterable, Sequence

from tocsin_contracts import Evidence, Finding, HypothesisFormed, InvestigationInconclusive
from tocsin_rca.evidence.conclusion import MOST_EVIDENCE
from tocsin_rca.investigation.known import Answer, Known


def inconclusive(
    known: Known, gathered: Sequence[Evidence], why: str, candidates: Sequence[Finding]
) -> InvestigationInconclusive:
    """Return that a person has to take over, with all that was seen."""
    return InvestigationInconclusive(
        run_id=known.run_id,
        alert=known.alert,
        why=why,
        evidence=kept((*known.evidence, *gathered), candidates),
        candidates=tuple(candidates),
    )


def seen_too(known: Known, gathered: Sequence[Evidence], why: str, *found: Finding) -> Answer:
    """Return what the analyzers concluded, with what a model saw and why that changes nothing."""
    candidates = (*known.findings, *found)
    if isinstance(known.answer, InvestigationInconclusive):
        return inconclusive(known, gathered, f"{known.answer.why} {why}", candidates)
    old = known.answer.hypothesis
    hypothesis = old.model_copy(
        update={
            "alternatives": (*old.alternatives, *found),
            "evidence": kept((*known.evidence, *gathered), candidates),
        }
    )
    return HypothesisFormed(run_id=known.run_id, alert=known.alert, hypothesis=hypothesis)


def kept(
    evidence: Sequence[Evidence], findings: Iterable[Finding], cited: Iterable[str] = ()
) -> tuple[Evidence, ...]:
    """Return what is cited, and as much of the rest as an event has room for."""
    wanted = {*cited, *(id for finding in findings for id in finding.evidence)}
    room = MOST_EVIDENCE - sum(one.id in wanted for one in evidence)
    others = [one.id for one in evidence if one.id not in wanted][: max(0, room)]
    return tuple(one for one in evidence if one.id in wanted or one.id in others)
