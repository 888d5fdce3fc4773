"""Asking for a decision, and what people decide. No event ever holds a token."""

from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.alert import Alert
from tocsin_contracts.base import Value
from tocsin_contracts.diagnosis import Hypothesis
from tocsin_contracts.event import Event
from tocsin_contracts.plan import Plan
from tocsin_contracts.states import RunState


class ApprovalRequested(Event):
    """A plan waits for a person; each surface mints its own nonce to ask with."""

    topic: ClassVar[str] = "approval.requested.v1"
    moves_to: ClassVar[RunState | None] = RunState.AWAITING_APPROVAL

    approval_id: str
    expires_at: AwareDatetime
    alert: Alert
    hypothesis: Hypothesis
    plan: Plan
    needs: str = Field(default="", description="Who has to say yes, in words: how many, and where.")
    freeze: str = Field(default="", description="The change freeze that held; only a person may.")
    team: str = ""
    owners: str = Field(default="", description="Who owns the touched files, in words.")


class Decision(Value):
    """Who decided what, about which plan, when, and from where."""

    approval_id: str
    plan_hash: str
    by: str
    surface: str
    decided_at: AwareDatetime
    reason: str = ""
    break_glass: bool = Field(
        default=False, description="Whether one person said yes past the rules of who has to."
    )


class ApprovalEscalated(Event):
    """Nobody has decided for a while, so more people may."""

    topic: ClassVar[str] = "approval.escalated-to-group.v1"

    approval_id: str
    plan_hash: str
    title: str = Field(description="Of the plan.")
    approvers: tuple[str, ...] = Field(description="Who may decide now who could not before.")
    expires_at: AwareDatetime


class ApprovalRecorded(Event):
    """Somebody said yes, and more people have to."""

    topic: ClassVar[str] = "approval.recorded.v1"

    given: int = Field(default=0, ge=0, description="People who have said yes, with this one.")
    required: int = Field(default=0, ge=0, description="People who have to.")
    decision: Decision


class ApprovalGranted(Event):
    """Said yes. It authorises nothing by itself: action reads the approval record."""

    topic: ClassVar[str] = "approval.granted.v1"

    decision: Decision


class ApprovalDenied(Event):
    """Said no."""

    topic: ClassVar[str] = "approval.denied.v1"

    decision: Decision


class ApprovalExpired(Event):
    """Nobody decided in time."""

    topic: ClassVar[str] = "approval.expired.v1"

    approval_id: str
    plan_hash: str


class ApprovalReminded(Event):
    """Half of the time is over, and nobody has decided."""

    topic: ClassVar[str] = "approval.reminded.v1"

    approval_id: str
    plan_hash: str
    title: str = Field(description="Of the plan.")
    expires_at: AwareDatetime


class PlanStale(Event):
    """A file the plan touches moved on at the base; a new plan and a new approval are needed."""

    topic: ClassVar[str] = "action.plan-stale.v1"
    moves_to: ClassVar[RunState | None] = RunState.VALIDATING

    alert: Alert
    hypothesis: Hypothesis
    plan_hash: str
    why: str
    issue_key: str = Field(default="", description="Of the plan; that of an undo says so.")


class PlanSuperseded(Event):
    """Another plan of the same run took the place of one that people may have seen."""

    topic: ClassVar[str] = "validation.plan-superseded.v1"

    plan_hash: str
    by: str = Field(description="The hash of the plan that took its place.")
    why: str
