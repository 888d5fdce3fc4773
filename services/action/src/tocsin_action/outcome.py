"""What follows for a run from whether its merged fix has helped; pure."""

from collections.abc import Sequence

from tocsin_action import endings
from tocsin_action.followed import Followed
from tocsin_action.proving import Calm, Ineffective, Undelivered, Verdict, Verified
from tocsin_contracts import (
    ChangeProposed,
    EndReason,
    Event,
    FixIneffective,
    FixVerified,
    PullRequestMerged,
    RunState,
)
from tocsin_kit.pulls import behind
from tocsin_kit.run_view import Run


def proven(
    run: Run, told: Followed, merged: PullRequestMerged, verdict: Verdict
) -> Sequence[Event]:
    """What follows from a verdict."""
    match verdict:
        case Verified(minutes):
            sentence = f"The alerts cleared {minutes:.0f} minutes after {told.url} was merged."
            return [
                FixVerified(run_id=run.id, url=told.url, minutes=minutes),
                endings.ended(run.id, RunState.RESOLVED, EndReason.FIX_VERIFIED, sentence),
            ]
        case Calm(before):
            sentence = f"The alerts had cleared before {told.url} {before}, and stayed clear."
            return [endings.ended(run.id, RunState.RESOLVED, EndReason.ALERT_CLEARED, sentence)]
        case Ineffective(why):
            return [_ineffective(run, told, merged, why)]
        case Undelivered(why):
            sentence = f"{told.url} was merged. {why}. Nothing is to be undone; a person goes on."
            return [endings.ended(run.id, RunState.ESCALATED, EndReason.FIX_NOT_DEPLOYED, sentence)]
    return []


def _ineffective(run: Run, told: Followed, merged: PullRequestMerged, why: str) -> Event:
    known = behind(run)
    if known is None:
        sentence = f"{told.url} was merged and {why}. Another run opened it: undo it by hand."
        return endings.ended(run.id, RunState.ESCALATED, EndReason.FIX_INEFFECTIVE, sentence)
    return FixIneffective(
        run_id=run.id,
        alert=known.alert,
        hypothesis=known.explanation if isinstance(known, ChangeProposed) else known.hypothesis,
        plan=known.plan,
        url=told.url,
        merged_at=merged.merged_at,
        commits=tuple(one for one in (told.commit, merged.merged_commit) if one),
        why=why,
    )
