"""What people are told whose click decided nothing: why, and who can."""

from collections.abc import Iterable, Mapping

from tocsin_contracts import Risk
from tocsin_contracts.views import ApprovalState
from tocsin_kit.approvals import Approval, Redeemed, Refusal
from tocsin_kit.untrusted import line
from tocsin_notifier.channels.slack.text import escaped

LIMIT = 1000

_WHY: Mapping[Refusal, str] = {
    Refusal.UNKNOWN: "No approval is kept for this plan, so nothing can be approved.",
    Refusal.BAD_TOKEN: "This button was replaced; the message shows the new one in a moment.",
    Refusal.PLAN_CHANGED: "This is not the plan that waits; look at the new one.",
    Refusal.EXPIRED: "The approval has expired. A new alert opens a new run.",
    Refusal.NOT_ALLOWED: "You may not decide this.",
    Refusal.SELF_APPROVAL: "Who proposes a change may not approve it; ask somebody else.",
    Refusal.NOT_WAITING: "The run no longer waits for a decision.",
    Refusal.WRONG_SURFACE: "A yes to this does not count from Slack; use tocsin run approve.",
    Refusal.NOT_GLASS: "Nobody breaks the glass from Slack; use tocsin run approve --break-glass.",
    Refusal.NO_REASON: "To break the glass takes a reason.",
    Refusal.SAID_ALREADY: "You have said yes already.",
}
_CLOSED = {
    ApprovalState.EXPIRED: _WHY[Refusal.EXPIRED],
    ApprovalState.WITHDRAWN: _WHY[Refusal.NOT_WAITING],
}
NOT_OURS = "This button is none of ours any more; look at the newest message of the incident."
TRY_AGAIN = (
    "The store did not answer, so nothing may have been decided. "
    "If the message still asks in a few seconds, click again."
)


def refused(taken: Redeemed, approval: Approval | None) -> str:
    """Return why a decision was not taken."""
    if taken.state in _CLOSED:
        return _CLOSED[taken.state]
    if taken.state in (ApprovalState.GRANTED, ApprovalState.DENIED):
        when = f" at {taken.decided_at:%H:%M:%S} UTC" if taken.decided_at else ""
        return f"Already {taken.state.value} by {_said(taken.decided_by)}{when}. It stands."
    refusal = taken.refusal or Refusal.UNKNOWN
    if refusal is Refusal.NOT_ALLOWED:
        return f"{_WHY[refusal]} {who_can(approval.approvers if approval else ())}"
    if refusal is Refusal.SAID_ALREADY and approval:
        count = f"{taken.given} of {taken.required} people have."
        return f"{_WHY[refusal]} {count} {who_can(approval.undecided)}"
    return _WHY[refusal]


def hopeless(approval: Approval | None, by: str) -> str:
    """Return why a decision of this person would be refused; empty if it may not be."""
    if approval is None:
        return _WHY[Refusal.UNKNOWN]
    if approval.state is not ApprovalState.PENDING:
        decided = approval.decided_by, approval.decided_at
        return refused(Redeemed(Refusal.ALREADY, approval.state, *decided), approval)
    if by not in approval.approvers:
        return refused(Redeemed(Refusal.NOT_ALLOWED, None), approval)
    return ""


def stranger(team: str, user: str, approvers: Iterable[str]) -> str:
    """Return the answer to somebody whom no setting names."""
    return (
        f"You may not decide this: {_said(f'{team}:{user}')} is nobody that "
        f"TOCSIN_SLACK_APPROVERS names. {who_can(approvers)}"
    )


def replaced(plan: str) -> str:
    """Return the answer to a click on a plan that another one took the place of."""
    return f"This plan was replaced by plan {_said(plan)}; look at the new one."


def only_console(risk: Risk, page: str) -> str:
    """Return the answer to a click that is too little for the risk of a plan."""
    where = f" Review it at {_said(page)}" if page else " Use tocsin run approve."
    told = f"The risk of this change is {risk.value}: a click in Slack does not approve it."
    return f"{told}{where}"


def who_can(approvers: Iterable[str]) -> str:
    """Say who may decide."""
    known = ", ".join(sorted(approvers))
    return f"Ask one of: {_said(known)}." if known else "Nobody may yet: see TOCSIN_APPROVERS."


def _said(text: str) -> str:
    return escaped(line(text, LIMIT), LIMIT)
