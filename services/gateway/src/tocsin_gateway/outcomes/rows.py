"""From the facts of a run to one row about what became of it."""

from datetime import datetime
from decimal import Decimal

from tocsin_contracts import (
    AlertAccepted,
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    Event,
    FixVerified,
    HypothesisFormed,
    Plan,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
    RunFinished,
)
from tocsin_contracts.outcomes import PlanAnswer, RunOutcome
from tocsin_gateway import views
from tocsin_kit.run_view import Run

UNKNOWN = "unknown"
_ANSWERS: dict[type[Event], PlanAnswer] = {
    ApprovalGranted: PlanAnswer.GRANTED,
    ApprovalDenied: PlanAnswer.DENIED,
    ApprovalExpired: PlanAnswer.EXPIRED,
}


def row(run: Run) -> RunOutcome:
    """Return what became of a run so far."""
    accepted, ending = run.fact(AlertAccepted), run.fact(RunFinished)
    formed, verified = run.fact(HypothesisFormed), run.fact(FixVerified)
    answer, seconds = _answered(run)
    merged = _merges(run)
    use = views.model_use(run)
    return RunOutcome(
        run_id=run.id,
        version=run.version,
        source=accepted.alert.source if accepted else UNKNOWN,
        began_at=run.created_at,
        ended_at=ending.at if ending else None,
        outcome=ending.outcome if ending else None,
        cause=formed.hypothesis.finding.cause.value if formed else "",
        answer=answer,
        seconds_to_answer=seconds,
        opened=any(isinstance(one, PullRequestOpened | PullRequestUpdated) for one in run.told),
        merged=False in merged,
        reverted=True in merged,
        seconds_to_fix=_seconds(run.created_at, verified.at) if verified else None,
        cost=use.cost if use else Decimal(0),
    )


def _answered(run: Run) -> tuple[PlanAnswer | None, float | None]:
    """Return the first answer to a plan that is no undo, and how long people took for it."""
    asked: ApprovalRequested | None = None
    for fact in run.told:
        if isinstance(fact, ApprovalRequested):
            asked = fact
        answer = _ANSWERS.get(type(fact))
        if answer and asked and not undoes(asked.plan):
            expired = answer is PlanAnswer.EXPIRED
            return answer, None if expired else _seconds(asked.at, fact.at)
    return None, None


def _merges(run: Run) -> list[bool]:
    """Return, for each merge, whether what was merged undoes an earlier one."""
    found, plan = list[bool](), None
    for fact in run.told:
        if isinstance(fact, ApprovalRequested):
            plan = fact.plan
        if isinstance(fact, PullRequestMerged):
            found.append(plan is not None and undoes(plan))
    return found


def undoes(plan: Plan) -> bool:
    """Whether a plan undoes a commit of ours."""
    return any(edit.undo_of for edit in plan.edits)


def _seconds(since: datetime, until: datetime) -> float:
    return max((until - since).total_seconds(), 0.0)
