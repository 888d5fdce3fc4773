"""A comment, and what its run knows about the pull request that it is on; pure."""

from dataclasses import dataclass
from datetime import datetime

from tocsin_contracts import (
    Alert,
    ChangeProposed,
    CommentAnswered,
    ForgeEventKind,
    ForgeEventReceived,
    Hypothesis,
    HypothesisFormed,
    ModelUse,
    Plan,
    Remark,
    RunId,
    RunState,
)
from tocsin_kit.pulls import Told, behind, told
from tocsin_kit.run_view import Run
from tocsin_kit.steering import author_id


@dataclass(frozen=True, slots=True)
class Talk:
    """One comment, with the plan that its pull request is made of and why that was drafted.

    `used` is what a model has used for the run, and `of_answers` what of it went into answers.
    """

    run_id: RunId
    state: RunState
    remark: Remark
    body: str
    since: datetime
    alert: Alert
    hypothesis: Hypothesis
    plan: Plan
    used: ModelUse
    of_answers: ModelUse


def understood(event: ForgeEventReceived, run: Run) -> Talk | None:
    """Return what a comment is about; None for all that is no comment on a request of this run.

    A pull request from a fork is none of ours, whatever it is called.
    """
    pull, known = told(run), behind(run)
    if pull is None or known is None or not _is_about(event, pull):
        return None
    of_answers = _of_answers(run)
    return Talk(
        run_id=run.id,
        state=run.state,
        remark=Remark(author=author_id(event.forge, event.author), delivery=event.delivery),
        body=event.body,
        since=event.at,
        alert=known.alert,
        hypothesis=known.explanation if isinstance(known, ChangeProposed) else known.hypothesis,
        plan=known.plan,
        used=sum(_of_attempts(run), of_answers),
        of_answers=of_answers,
    )


def _is_about(event: ForgeEventReceived, pull: Told) -> bool:
    if event.kind is not ForgeEventKind.COMMENTED or ":" in event.head_branch:
        return False
    place = (event.repo.lower(), event.head_branch)
    return event.url == pull.url or place == (pull.repo.lower(), pull.head_branch)


def _of_answers(run: Run) -> ModelUse:
    answered = run.fact(CommentAnswered)
    return (answered.model_use if answered else None) or ModelUse()


def _of_attempts(run: Run) -> list[ModelUse]:
    formed = run.fact(HypothesisFormed)
    return [one for one in (formed.model_use_before, formed.model_use) if one] if formed else []
