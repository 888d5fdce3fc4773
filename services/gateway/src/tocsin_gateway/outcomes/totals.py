"""Many rows together: rates, durations, costs and thumbs; nothing is a rate of nothing."""

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from statistics import quantiles

from tocsin_contracts.outcomes import (
    OutcomesTotal,
    PlanAnswer,
    Rateable,
    RatingView,
    RunOutcome,
    Spread,
    Thumbs,
)
from tocsin_kit.outcomes import Judged

CENT = Decimal("0.000001")


def total(judged: Sequence[Judged]) -> OutcomesTotal:
    """Return the figures of these runs."""
    rows = [one.outcome for one in judged]
    ratings = [rating for one in judged for rating in one.ratings]
    answers = [row.answer for row in rows if row.answer]
    opened = [row for row in rows if row.opened]
    merged = [row for row in rows if row.merged]
    known = [row.cost for row in rows if row.cost is not None]
    return OutcomesTotal(
        runs=len(rows),
        ended=Counter(row.outcome for row in rows if row.outcome),
        answered=len(answers),
        acceptance=_rate(answers.count(PlanAnswer.GRANTED), len(answers)),
        opened=len(opened),
        merge_rate=_rate(sum(row.merged for row in opened), len(opened)),
        revert_rate=_rate(sum(row.reverted for row in merged), len(merged)),
        to_answer=spread(row.seconds_to_answer for row in rows),
        to_fix=spread(row.seconds_to_fix for row in rows),
        cost=sum(known, Decimal(0)),
        cost_unknown=len(rows) - len(known),
        cost_per_run=(sum(known, Decimal(0)) / len(known)).quantize(CENT) if known else None,
        hypotheses=_thumbs(ratings, Rateable.HYPOTHESIS),
        fixes=_thumbs(ratings, Rateable.FIX),
    )


def by_source(judged: Sequence[Judged]) -> dict[str, OutcomesTotal]:
    """Return the figures of the runs of each source."""
    sources = sorted({one.outcome.source for one in judged})
    return {
        source: total([one for one in judged if one.outcome.source == source]) for source in sources
    }


def spread(seconds: Iterable[float | None]) -> Spread:
    """Return the median and the ninth tenth of what is known."""
    known = sorted(one for one in seconds if one is not None)
    if not known:
        return Spread()
    if len(known) == 1:
        return Spread(count=1, median=known[0], p90=known[0])
    tenths = quantiles(known, n=10, method="inclusive")
    return Spread(count=len(known), median=tenths[4], p90=tenths[8])


def newest(judged: Sequence[Judged], most: int) -> tuple[RunOutcome, ...]:
    """Return the rows of the newest runs."""
    return tuple(one.outcome for one in judged[:most])


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _thumbs(ratings: Iterable[RatingView], about: Rateable) -> Thumbs:
    said = Counter(rating.useful for rating in ratings if rating.about is about)
    return Thumbs(useful=said[True], wrong=said[False])
