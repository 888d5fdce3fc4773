"""Outcomes as metrics: each happening counts once, in the process that stored it first."""

from tocsin_contracts.outcomes import PlanAnswer, RatingView, RunOutcome
from tocsin_kit.metrics import Counter, Histogram

MINUTE, HOUR, DAY = 60, 3600, 86_400
ENDED = Counter("tocsin_runs_ended_total", "Runs that ended.", ["source", "outcome"])
ANSWERED = Counter("tocsin_plans_answered_total", "Plans that people settled.", ["answer"])
for _answer in PlanAnswer:
    ANSWERED.labels(_answer.value)  # from zero on: the first of a kind is an increase too
OPENED = Counter("tocsin_fixes_opened_total", "Runs that led to a pull request.")
MERGED = Counter("tocsin_fixes_merged_total", "Runs whose pull request was merged.")
REVERTED = Counter("tocsin_fixes_reverted_total", "Runs whose fix was undone by a merge.")
COST = Counter("tocsin_run_cost_dollars_total", "What runs that ended cost.", ["source"])
UNPRICED = Counter("tocsin_run_cost_unknown_total", "Runs whose cost is not known.", ["source"])
RATINGS = Counter("tocsin_ratings_total", "What people found useful.", ["about", "useful"])
TO_ANSWER = Histogram(
    "tocsin_plan_answer_seconds",
    "From asking people until they answered.",
    buckets=(MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, DAY),
)
TO_FIX = Histogram(
    "tocsin_fix_seconds",
    "From the beginning of a run until its fix was verified.",
    buckets=(15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 12 * HOUR, DAY, 7 * DAY),
)


def count(before: RunOutcome | None, now: RunOutcome) -> None:
    """Count what happened between two rows of a run."""
    if now.outcome and not (before and before.outcome):
        ENDED.labels(now.source, now.outcome.value).inc()
        if now.cost is None:
            UNPRICED.labels(now.source).inc()
        else:
            COST.labels(now.source).inc(float(now.cost))
    if now.answer and not (before and before.answer):
        _answered(now.answer, now.seconds_to_answer)
    if now.seconds_to_fix is not None and (before is None or before.seconds_to_fix is None):
        TO_FIX.observe(now.seconds_to_fix)
    _fixed(before, now)


def count_rating(rating: RatingView) -> None:
    """Count one rating."""
    RATINGS.labels(rating.about.value, str(rating.useful).lower()).inc()


def _answered(answer: PlanAnswer, seconds: float | None) -> None:
    ANSWERED.labels(answer.value).inc()
    if seconds is not None:
        TO_ANSWER.observe(seconds)


def _fixed(before: RunOutcome | None, now: RunOutcome) -> None:
    steps = (
        (OPENED, now.opened, before.opened if before else False),
        (MERGED, now.merged, before.merged if before else False),
        (REVERTED, now.reverted, before.reverted if before else False),
    )
    for counter, is_so, was_so in steps:
        if is_so and not was_so:
            counter.inc()
