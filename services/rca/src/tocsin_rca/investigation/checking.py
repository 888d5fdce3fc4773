"""What is wrong with a result, in words that a model can act on: pure."""

from collections.abc import Iterable, Iterator

from tocsin_contracts import CauseClass, ObjectRef, Verdict
from tocsin_kit.untrusted import line
from tocsin_rca.investigation.submission import Submission

MOST_NAMED = 10


def flaws(
    result: Submission,
    *,
    evidence: Iterable[str],
    objects: Iterable[str],
    rejected: Iterable[CauseClass],
) -> str | None:
    """Return all that is wrong; None if the result may be judged.

    `objects` are those that were seen, as `str(ObjectRef)`.
    """
    found = (
        *_uncited(result),
        *_unknown(result, frozenset(evidence)),
        *_unseen(result, frozenset(objects)),
        *_ruled_out(result, frozenset(rejected)),
    )
    return "; ".join(found) or None


def _uncited(result: Submission) -> Iterator[str]:
    for claim in result.claims:
        if not claim.evidence:
            yield f"the claim {line(claim.text, 60)!r} cites no evidence"


def _unknown(result: Submission, known: frozenset[str]) -> Iterator[str]:
    unknown = sorted(line(id, 20) for id in result.cited - known)
    if unknown:
        yield f"there is no evidence {', '.join(unknown[:MOST_NAMED])}; cite what was shown to you"


def _unseen(result: Submission, seen: frozenset[str]) -> Iterator[str]:
    if result.verdict is Verdict.INCONCLUSIVE:
        return
    named: list[ObjectRef] = [result.object]
    if result.change:
        named.append(result.change.object)
    for ref in named:
        if str(ref) not in seen:
            yield f"no object {line(str(ref))!r} was seen; name one that was, spelled as it was"


def _ruled_out(result: Submission, rejected: frozenset[CauseClass]) -> Iterator[str]:
    if result.verdict is not Verdict.INCONCLUSIVE and result.cause in rejected:
        yield f"checks have ruled out {result.cause.value}; find another cause, or say inconclusive"
