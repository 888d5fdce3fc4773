"""What was decided about a run when it was new, as people look at it."""

from collections.abc import Sequence

from tocsin_contracts import AlertSuppressed, IncidentOpened, RelatedAlert, RunSuperseded
from tocsin_contracts.views import TriageView
from tocsin_kit.run_view import Run


def triage(run: Run, news: Sequence[RelatedAlert]) -> TriageView | None:
    """Return what was decided about a run when it was new; None as long as nothing was."""
    opened, superseded = run.fact(IncidentOpened), run.fact(RunSuperseded)
    suppressed = run.fact(AlertSuppressed)
    decided = opened or superseded or suppressed
    if decided is None:
        return None
    return TriageView(
        decisions=decided.decisions,
        superseded_by=superseded.into if superseded else "",
        held_by=suppressed.by if suppressed else "",
        held_until=suppressed.until if suppressed else None,
        team=opened.team if opened else "",
        environment=opened.environment if opened else "",
        freeze=opened.freeze if opened else "",
        related=opened.related if opened else superseded and superseded.correlation,
        joined=tuple(one for one in news if one.run_id),
    )
