"""Where a run can be, why it can end, and which of its states nothing leaves."""

from enum import StrEnum


class RunState(StrEnum):
    """One run's place in the pipeline; the order is the order a run passes through."""

    RECEIVED = "received"
    INVESTIGATING = "investigating"
    VALIDATING = "validating"
    AWAITING_APPROVAL = "awaiting_approval"
    APPLYING = "applying"
    PR_OPEN = "pr_open"
    PR_MERGED = "pr_merged"
    RESOLVED = "resolved"
    NO_CHANGE = "no_change"
    SUPPRESSED = "suppressed"
    SUPERSEDED = "superseded"
    ESCALATED = "escalated"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    PR_CLOSED = "pr_closed"
    FAILED = "failed"

    @property
    def terminal(self) -> bool:
        """Whether the run has ended: a terminal state accepts no move."""
        return self not in OPEN_STATES

    @property
    def status(self) -> str:
        """The public name that users of older pipelines know."""
        return _STATUS.get(self, self.value)


OPEN_STATES = (
    RunState.RECEIVED,
    RunState.INVESTIGATING,
    RunState.VALIDATING,
    RunState.AWAITING_APPROVAL,
    RunState.APPLYING,
    RunState.PR_OPEN,
    RunState.PR_MERGED,
)

_STATUS = {
    RunState.RECEIVED: "queued",
    RunState.INVESTIGATING: "running",
    RunState.VALIDATING: "running",
    RunState.APPLYING: "running",
    RunState.PR_OPEN: "applied",
}


class EndReason(StrEnum):
    """Why a run ended. Closed: a new reason is a new line here."""

    ALERT_CLEARED = "alert_cleared"
    ALREADY_PROPOSED = "already_proposed"
    ALREADY_FIXED = "already_fixed"
    SUPPRESSED_BY_RULE = "suppressed_by_rule"
    SUPERSEDED_BY_RUN = "superseded_by_run"
    NO_INCIDENT = "no_incident"
    CAUSE_UNKNOWN = "cause_unknown"
    CHECKS_FAILED = "checks_failed"
    TARGET_UNRESOLVED = "target_unresolved"
    POLICY_DENIED = "policy_denied"
    DENIED_BY_APPROVER = "denied_by_approver"
    APPROVAL_EXPIRED = "approval_expired"
    CANCELLED_BY_USER = "cancelled_by_user"
    TAKEN_OVER = "taken_over"
    BRANCH_TAKEN = "branch_taken"
    CLOSED_BY_PERSON = "closed_by_person"
    CONFLICTING_PLAN = "conflicting_plan"
    TOO_MANY_PULLS = "too_many_pulls"
    FIX_VERIFIED = "fix_verified"
    FIX_INEFFECTIVE = "fix_ineffective"
    FIX_NOT_DEPLOYED = "fix_not_deployed"
    HANDLER_FAILED = "handler_failed"
