"""The events that tell of decisions, as they are stored with them and read again."""

from typing import TypeVar

from tocsin_contracts import (
    ApprovalDenied,
    ApprovalGranted,
    ApprovalRecorded,
    Decision,
    Event,
    RunId,
)
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_kit.approval_record import Redeemed
from tocsin_kit.outbox import Stored

E = TypeVar("E", bound=Event)

_KINDS: dict[str, type[Event]] = {
    kind.topic: kind for kind in (ApprovalGranted, ApprovalDenied, ApprovalRecorded)
}


def read(field: str, value: str) -> Event:
    """Rebuild the event that a field of an approval record holds."""
    return _KINDS[field.split(":")[1]].model_validate_json(value)


def told(run_id: RunId, answer: DecisionKind, decision: Decision) -> tuple[Event, ApprovalRecorded]:
    """Return the event of a decision, and that of a yes which is not whole yet."""
    kind = ApprovalGranted if answer is DecisionKind.GRANTED else ApprovalDenied
    at = decision.decided_at
    unique = f"{decision.approval_id}:{decision.by}:{at.isoformat()}"
    return (
        _first(kind(run_id=run_id, at=at, decision=decision), unique, decision.surface),
        _first(ApprovalRecorded(run_id=run_id, at=at, decision=decision), unique, decision.surface),
    )


def stored(
    key: str, taken: Redeemed, whole: Event, partial: ApprovalRecorded, ticket: str
) -> Stored:
    """Return the event that the script has stored, and where."""
    if taken.state is not ApprovalState.PENDING:
        return Stored(key, f"out:{whole.topic}", whole, ticket)
    counted = {"given": taken.given, "required": taken.required}
    field = f"out:{partial.topic}:{partial.decision.by}"
    return Stored(key, field, partial.model_copy(update=counted), ticket)


def _first(event: E, unique: str, producer: str) -> E:
    """Return an event that no other event led to."""
    return event.caused_by(unique, producer).model_copy(update={"cause": ""})
