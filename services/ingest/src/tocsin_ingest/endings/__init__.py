"""How triage ends a run that nobody has to look at: by a rule, or because another run does."""

from collections.abc import Sequence

from tocsin_contracts import (
    Alert,
    AlertSuppressed,
    EndReason,
    Event,
    RunFinished,
    RunId,
    RunState,
    RunSuperseded,
)
from tocsin_ingest.triage.silences import Held


def suppressed(run_id: RunId, alert: Alert, held: Held, decisions: Sequence[str]) -> list[Event]:
    """End a run that a rule holds back."""
    return [
        AlertSuppressed(
            run_id=run_id,
            alert=alert,
            rule=held.rule,
            kind=held.kind,
            by=held.by,
            until=held.until,
            decisions=tuple(decisions),
        ),
        RunFinished(
            run_id=run_id,
            outcome=RunState.SUPPRESSED,
            reason=EndReason.SUPPRESSED_BY_RULE,
            sentence=f"Nothing to do: {held.rule}.",
        ),
    ]


def superseded(event: RunSuperseded) -> list[Event]:
    """End a run that an older one looks after."""
    return [
        event,
        RunFinished(
            run_id=event.run_id,
            outcome=RunState.SUPERSEDED,
            reason=EndReason.SUPERSEDED_BY_RUN,
            sentence=f"Run {event.into} looks after it: {event.why}.",
        ),
    ]
