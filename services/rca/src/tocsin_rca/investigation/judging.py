"""From what a model hands in to what the attempt comes to: pure, and the model has no last word."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tocsin_contracts import (
    CauseClass,
    Claim,
    Evidence,
    EvidenceKind,
    FieldChange,
    Finding,
    Hypothesis,
    HypothesisFormed,
    Verdict,
)
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import line
from tocsin_rca.evidence.conclusion import WORTH_ACTING
from tocsin_rca.investigation.ending import inconclusive, kept, seen_too
from tocsin_rca.investigation.known import Answer, Known
from tocsin_rca.investigation.submission import Alternative, Submission

CONFIDENCE = {Verdict.CONFIRMED: 0.75, Verdict.LIKELY: 0.65, Verdict.INCONCLUSIVE: 0.0}
"""What the word of a model is worth: to act on, but never as much as a decisive finding."""

OF_ALTERNATIVE = 0.3
SENTENCE = 500


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a model looked at, and its change if that was found to stand on what was seen."""

    evidence: tuple[Evidence, ...]
    change: FieldChange | None = None
    change_shown_by: tuple[str, ...] = ()


def judged(known: Known, result: Submission, gathered: Gathered) -> Answer:
    """Return the answer of the attempt.

    A finding of the analyzers that is at least as sure stands, unless evidence is cited that
    contradicts it. What a model alone calls confirmed is likely; it is confirmed if analyzers
    found the same. Without a change that stands on evidence, and where a model sees no incident,
    a person takes over.
    """
    agreeing = next((f for f in known.findings if _agree(f, result)), None)
    finding = _finding(result, gathered, agreeing)
    stands = _uncontradicted(known.findings, result, finding, gathered.evidence, known.evidence)
    if result.verdict is Verdict.INCONCLUSIVE:
        return seen_too(known, gathered.evidence, f"The model is not sure: {_said(result.summary)}")
    if stands:
        why = (
            f"A model finds {result.cause.value}, but cites nothing that contradicts "
            f"{stands.cause.value}, which is at least as sure."
        )
        return seen_too(known, gathered.evidence, why, finding)
    return _led(known, result, gathered, finding, agreeing)


def _led(
    known: Known,
    result: Submission,
    gathered: Gathered,
    finding: Finding,
    agreeing: Finding | None,
) -> Answer:
    """Return the answer that the finding of the model leads."""
    others = tuple(f for f in known.findings if f is not agreeing)
    alternatives = (*others, *map(_alternative, result.alternatives))
    if finding.change is None or result.cause is CauseClass.NO_INCIDENT:
        why = f"{finding.summary} {_no_change(result)}"
        return inconclusive(known, gathered.evidence, why, (finding, *alternatives))
    hypothesis = Hypothesis(
        attempt=known.attempt,
        verdict=_verdict(result, agreeing),
        finding=finding,
        alternatives=alternatives,
        evidence=kept(
            (*known.evidence, *gathered.evidence), (finding, *alternatives), result.cited
        ),
        rejected=tuple(one.cause for one in known.rejections),
        rejections=known.rejections,
        claims=tuple(Claim(text=_said(c.text), evidence=c.evidence) for c in result.claims),
        disproof=_said(result.disproof),
    )
    return HypothesisFormed(run_id=known.run_id, alert=known.alert, hypothesis=hypothesis)


def _verdict(result: Submission, agreeing: Finding | None) -> Verdict:
    backed = agreeing is not None and agreeing.confidence >= WORTH_ACTING
    return result.verdict if backed else Verdict.LIKELY


def _agree(finding: Finding, result: Submission) -> bool:
    return (finding.cause, finding.object) == (result.cause, result.object)


def _finding(result: Submission, gathered: Gathered, agreeing: Finding | None) -> Finding:
    cites = dict.fromkeys(id for claim in result.claims for id in claim.evidence)
    confidence = CONFIDENCE[result.verdict]
    own = agreeing.change if agreeing else None
    ids = (*(agreeing.evidence if agreeing else ()), *cites)
    if own is None:
        ids = (*ids, *gathered.change_shown_by)
    return Finding(
        cause=result.cause,
        object=result.object,
        confidence=max(confidence, agreeing.confidence) if agreeing else confidence,
        summary=_said(result.summary),
        evidence=tuple(dict.fromkeys(ids)),
        change=own or gathered.change,
        further=agreeing.further if agreeing and own else (),
        considered=agreeing.considered if agreeing and own else (),
        because=_because(result, gathered, agreeing if own else None),
    )


def _because(result: Submission, gathered: Gathered, agreeing: Finding | None) -> str:
    """Say why this value, and why not what analyzers found."""
    why = agreeing.because if agreeing else ""
    if agreeing is None and gathered.change:
        why = f"The value stands in {', '.join(gathered.change_shown_by)}."
    against = [
        f"Not {one.cause.value}: {_said(one.why)} [{', '.join(one.evidence)}]"
        for one in result.contradictions
    ]
    return " ".join([why, *against]).strip()


def _uncontradicted(
    findings: Sequence[Finding],
    result: Submission,
    finding: Finding,
    *evidence: Iterable[Evidence],
) -> Finding | None:
    """Return the first finding that is at least as sure and that nothing speaks against.

    Of those only the ones count that lead over the same finding, where analyzers made it.
    """
    shown = {one.id for some in evidence for one in some if one.kind is not EvidenceKind.MISSING}
    contradicted = {c.cause for c in result.contradictions if shown.intersection(c.evidence)}
    for other in findings:
        if _agree(other, result):
            return None
        if other.confidence >= finding.confidence and other.cause not in contradicted:
            return other
    return None


def _alternative(one: Alternative) -> Finding:
    return Finding(
        cause=one.cause,
        object=one.object,
        confidence=OF_ALTERNATIVE,
        summary=_said(one.why),
        evidence=one.evidence,
    )


def _no_change(result: Submission) -> str:
    if result.cause is CauseClass.NO_INCIDENT:
        return "A model alone does not decide that nothing is wrong."
    if result.change is None:
        return "Nothing that was seen says which value would be right."
    return "The change that the model proposes does not stand on what was seen."


def _said(text: str) -> str:
    return line(Redactor().text(text), SENTENCE)
