"""Approving with a change: other values for edits of a plan that waits, and what comes of them."""

from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.base import Value
from tocsin_contracts.diagnosis import FieldPath, Scalar
from tocsin_contracts.event import Event
from tocsin_contracts.states import RunState
from tocsin_contracts.workload import ObjectRef


class NewValue(Value):
    """The value that one edit of the plan should set instead."""

    object: ObjectRef | None = Field(
        default=None, description="Whose field; it may be left out where the path names one edit."
    )
    path: FieldPath = Field(min_length=1, description="The field, as the plan's edit names it.")
    new: Scalar


class AmendmentRequested(Event):
    """An approver wants other values; a new plan comes of it, or the one that waits stays."""

    topic: ClassVar[str] = "approval.amendment-requested.v1"

    by: str
    surface: str
    plan_hash: str = Field(description="Of the plan that was looked at.")
    changes: tuple[NewValue, ...] = Field(min_length=1)
    reason: str = ""


class AmendmentRefused(Event):
    """No plan comes of the other values; the one that waits is still to be decided."""

    topic: ClassVar[str] = "validation.amendment-refused.v1"
    moves_to: ClassVar[RunState | None] = RunState.AWAITING_APPROVAL

    by: str
    plan_hash: str = Field(description="Of the plan that was to be changed.")
    why: str


class AmendmentView(Value):
    """Other values were asked for; the new plan, or why there is none, follows as an event."""

    run_id: str
    plan_hash: str
    by: str
    at: AwareDatetime
