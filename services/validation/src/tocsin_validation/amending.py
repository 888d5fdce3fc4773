"""Whether the other values that an approver gives to a waiting plan make a plan; pure."""

from collections.abc import Sequence
from datetime import datetime

from tocsin_contracts import (
    ApprovalGranted,
    ApprovalRequested,
    Edit,
    Event,
    FieldChange,
    FieldPath,
    Hypothesis,
    ObjectRef,
    Plan,
    PlanDrafted,
    Scalar,
)
from tocsin_contracts.amending import AmendmentRefused, AmendmentRequested, NewValue
from tocsin_contracts.views import ApprovalState
from tocsin_gitops import hashing
from tocsin_kit import revaluing
from tocsin_kit.approvals import Approval
from tocsin_kit.errors import TransientError
from tocsin_kit.revaluing import is_meant
from tocsin_kit.run_view import Run
from tocsin_validation import endings


def waiting(run: Run | None) -> ApprovalRequested:
    """Return the question that waits; TransientError while a plan is on its way to or from one."""
    asked = run.fact(ApprovalRequested) if run else None
    drafted = run.fact(PlanDrafted) if run else None
    granted = run.fact(ApprovalGranted) if run else None
    if asked is None or drafted is None or asked.plan.plan_hash != drafted.plan.plan_hash:
        raise TransientError("the plan is not put to people yet, or not any more")
    if granted and granted.decision.plan_hash == asked.plan.plan_hash:
        raise TransientError(f"plan {asked.plan.short_hash} was approved; what follows comes first")
    return asked


def wanted(
    event: AmendmentRequested, asked: ApprovalRequested, approval: Approval | None, now: datetime
) -> Hypothesis | str:
    """Return the hypothesis with the values that were given, or why they are not taken."""
    plan = asked.plan
    if plan.plan_hash != event.plan_hash:
        return f"plan {event.plan_hash[:12]} does not wait any more; plan {plan.short_hash} does"
    if why := _closed(approval, event.by, now):
        return why
    if hashing.is_undo(plan.issue_key):
        return "an undo is exact, or it is none"
    return revaluing.amended(
        asked.hypothesis,
        event.changes,
        plan_hash=plan.plan_hash,
        by=event.by,
        reason=event.reason,
    )


def _closed(approval: Approval | None, by: str, now: datetime) -> str:
    if approval is None or approval.state is not ApprovalState.PENDING:
        return f"its approval is {approval.state.value if approval else 'unknown'} already"
    if approval.expires_at <= now:
        return "its approval has expired"
    return "" if by in approval.approvers else f"{by} may not decide about it"


def outcome(
    event: AmendmentRequested, asked: ApprovalRequested, told: Sequence[Event]
) -> Sequence[Event]:
    """Return what is told, if it is a plan with exactly those values; else why there is none."""
    drafted = next((one for one in told if isinstance(one, PlanDrafted)), None)
    if drafted is None:
        return [refused(event, " ".join(filter(None, map(endings.why, told))))]
    if not _is_exact(event, asked.plan, drafted):
        return [refused(event, "what the plan changes has moved on: nothing else may come with it")]
    return told


def refused(event: AmendmentRequested, why: str) -> AmendmentRefused:
    """Say that the plan which waits is still the one to decide."""
    return AmendmentRefused(
        run_id=event.run_id,
        by=event.by,
        plan_hash=event.plan_hash,
        why=why or "no plan comes of it",
    )


def _is_exact(event: AmendmentRequested, old: Plan, drafted: PlanDrafted) -> bool:
    """Whether a plan edits nothing but what the old one did, with the values that were given."""
    new, changes = drafted.plan.edits, drafted.hypothesis.finding.changes
    places = {(edit.file, edit.of, edit.at) for edit in old.edits}
    kept = all((edit.file, edit.of, edit.at) in places for edit in new)
    return kept and all(_is_set(one, changes) and _is_set(one, new) for one in event.changes)


def _is_set(wanted: NewValue, made: Sequence[FieldChange | Edit]) -> bool:
    changes = (_made(one) for one in made)
    values = [new for of, at, new in changes if at == wanted.path and is_meant(wanted.object, of)]
    return bool(values) and all(value == wanted.new for value in values)


def _made(one: FieldChange | Edit) -> tuple[ObjectRef | None, FieldPath, Scalar]:
    """Return the object, the field and its value, of a chart as it renders them."""
    if isinstance(one, Edit):
        return one.of, one.at, one.renders.new if one.renders else one.new
    return one.object, one.path, one.new
