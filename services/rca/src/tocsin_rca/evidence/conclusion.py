"""From findings to one hypothesis, or to the honest sentence that there is none."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tocsin_contracts import CauseClass, Evidence, EvidenceKind, Finding, Hypothesis, Verdict
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.ranking import ranked

DECISIVE = 0.9
WORTH_ACTING = 0.6
_COUNTED = (EvidenceKind.POD, EvidenceKind.EVENT, EvidenceKind.LOG, EvidenceKind.COMMIT)
MOST_EVIDENCE = 120
"""Pieces of evidence that an event carries: the bus takes no event over a megabyte."""


@dataclass(frozen=True, slots=True)
class InconclusiveReport:
    """Why nothing is proposed, what was seen, and what came closest."""

    why: str
    evidence: tuple[Evidence, ...]
    candidates: tuple[Finding, ...]


def conclude(
    case: Case, findings: Iterable[Finding], attempt: int, rejected: frozenset[CauseClass]
) -> Hypothesis | InconclusiveReport:
    """Choose the finding that leads and was not rejected, if it is worth acting on.

    A stronger finding that nobody knows the right value for is never passed over in favour of a
    weaker one that could be acted on.
    """
    found = ranked(case, findings)
    evidence = _shown(case, found)
    left = tuple(finding for finding in found if finding.cause not in rejected)
    best = _with_its_own_cause(left) if left else None
    if best is None or not _is_worth_acting(best):
        return InconclusiveReport(
            _why(case, left, rejected & {f.cause for f in found}), evidence, left
        )
    _, *others = left
    return Hypothesis(
        attempt=attempt,
        verdict=Verdict.CONFIRMED if best.confidence >= DECISIVE else Verdict.LIKELY,
        finding=best,
        alternatives=tuple(others),
        evidence=evidence,
    )


def _with_its_own_cause(left: tuple[Finding, ...]) -> Finding:
    """Return the first finding; an init container is put right by what puts its own cause right."""
    best, *others = left
    if best.cause is not CauseClass.INIT_CONTAINER_FAILURE or best.change is not None:
        return best
    for one in others:
        inside = one.change is not None and "initContainers" in one.change.path
        if inside and one.object == best.object and one.confidence >= DECISIVE:
            because = " ".join(filter(None, (one.summary, one.because)))
            evidence = tuple(dict.fromkeys((*best.evidence, *one.evidence)))
            told = {"change": one.change, "further": one.further, "because": because}
            return best.model_copy(update=told | {"evidence": evidence})
    return best


def _is_worth_acting(best: Finding) -> bool:
    """Whether to go on with it; that nothing is wrong must be sure, and needs no change."""
    if best.cause is CauseClass.NO_INCIDENT:
        return best.confidence >= DECISIVE
    return best.confidence >= WORTH_ACTING and best.change is not None


def _shown(case: Case, findings: Iterable[Finding]) -> tuple[Evidence, ...]:
    """Return what was seen, without what no finding cites beyond the first of it."""
    cited = {id for finding in findings for id in finding.evidence}
    room = MOST_EVIDENCE - len(cited)
    others = [seen.id for seen in case.observations if seen.id not in cited][: max(0, room)]
    kept = cited.union(others)
    return tuple(seen.evidence for seen in case.observations if seen.id in kept)


def _why(case: Case, left: tuple[Finding, ...], rejected: Iterable[CauseClass]) -> str:
    sentences = [_seen(case), _closest(left)]
    refused = ", ".join(sorted(cause.value for cause in rejected))
    if refused:
        sentences.append(f"The checks have already rejected {refused}.")
    return " ".join(sentences)


def _seen(case: Case) -> str:
    if case.unseen:
        return f"The cluster was not seen, so nobody knows how it is: {case.unseen[0].data.why}."
    if case.named is None:
        return "The cluster knows no object that the alert points at."
    kinds = Counter(seen.evidence.kind for seen in case.observations)
    unseen = kinds[EvidenceKind.MISSING]
    subject = case.workload or case.named
    looked_at = ", ".join(_counted(kinds[kind], kind.value) for kind in _COUNTED)
    sentence = f"Looked at {subject}: {looked_at}."
    return f"{sentence} {_counted(unseen, 'question')} got no answer." if unseen else sentence


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _closest(left: tuple[Finding, ...]) -> str:
    if not left:
        return "No cause that the analyzers know fits what was seen."
    best = left[0]
    if best.confidence < WORTH_ACTING:
        return f"Too weak to act on ({best.confidence:.0%}): {best.summary}"
    summary = best.summary if best.summary.endswith((".", "!", "?")) else f"{best.summary}."
    return f"{summary} Nothing that was seen says which value would be right."
