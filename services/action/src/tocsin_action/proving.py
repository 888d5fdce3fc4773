"""Whether a merged fix helped, as the alerts of its run tell; pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tocsin_action.arrival import UNTOLD, Arrival, Standing
from tocsin_contracts import (
    AlertRepeated,
    AlertResolved,
    AlertStatus,
    FixDeployed,
    PullRequestMerged,
)
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally


@dataclass(frozen=True, slots=True)
class Patience:
    """How long things take: to reach the cluster, to be believed, and how long a no holds."""

    sync: timedelta
    verify: timedelta
    cool_down: timedelta


@dataclass(frozen=True, slots=True)
class Verified:
    """The alerts cleared after the merge and stayed clear."""

    minutes: float


@dataclass(frozen=True, slots=True)
class Calm:
    """The alerts had cleared before the fix was there, and stayed clear: it is not proven."""

    before: str = "was merged"


@dataclass(frozen=True, slots=True)
class Ineffective:
    """The alerts fire on, longer than a fix takes."""

    why: str


@dataclass(frozen=True, slots=True)
class Undelivered:
    """The alerts fire on, and the fix has not come to the cluster: there is nothing to undo."""

    why: str


@dataclass(frozen=True, slots=True)
class Look:
    """It cannot be told before then."""

    at: datetime


Verdict = Verified | Calm | Ineffective | Undelivered | Look

OFTEN = timedelta(minutes=1)
"""Between two looks at a controller that has not brought the fix yet."""


def cleared_at(run: Run, tally: Tally | None) -> datetime | None:
    """Return since when all alerts of a run are clear; None while one fires.

    What the receiver counts is asked first: of several facts in one moment a record keeps any.
    """
    resolved = run.fact(AlertResolved)
    if tally:
        seen = [one.last_seen for one in tally.members if one.status is AlertStatus.RESOLVED]
        known = resolved.at if resolved else tally.last_seen
        return None if tally.firing else max(seen, default=known)
    if resolved is None or resolved.still_firing or fires_again(run, resolved):
        return None
    return resolved.at


def fires_again(run: Run, cleared: AlertResolved) -> bool:
    """Whether an alert of the run came in after this one had cleared."""
    repeated = run.fact(AlertRepeated)
    return repeated is not None and repeated.at > cleared.at


def next_look(now: datetime) -> datetime:
    """Return when a controller is looked at again: on the same minutes from whoever asks."""
    return (now + OFTEN).replace(second=0, microsecond=0)


def deployed(merged: PullRequestMerged, arrival: Arrival, now: datetime) -> FixDeployed | None:
    """Return the fact that a fix has arrived and is well; None while it is not so."""
    if arrival.standing is not Standing.SYNCED:
        return None
    told = arrival.synced_at
    return FixDeployed(
        run_id=merged.run_id,
        at=now,
        url=merged.url,
        by=arrival.by,
        revision=arrival.revision,
        synced_at=min(max(told, merged.merged_at), now) if told else None,
    )


def judge(
    merged_at: datetime,
    cleared: datetime | None,
    patience: Patience,
    now: datetime,
    *,
    arrived: FixDeployed | None = None,
    arrival: Arrival = UNTOLD,
) -> Verdict:
    """Return what the alerts say about a merge, or when to look again.

    The clock starts when the fix has arrived. Where nobody tells that, it may take `sync`.
    """
    if arrived is None and arrival.standing in (Standing.SYNCING, Standing.FAILED):
        return _on_its_way(merged_at, cleared, patience, now, arrival)
    start = _Start(merged_at, merged_at, merged_at + patience.sync + patience.verify)
    if arrived:
        since = arrived.synced_at or merged_at
        start = _Start(merged_at, since, arrived.at + patience.verify)
    verdict = _judged(start, cleared, patience, now)
    if isinstance(verdict, Look) and arrived is None and arrival.by:
        return Look(min(verdict.at, next_look(now)))
    return verdict


@dataclass(frozen=True, slots=True)
class _Start:
    """From when on the alerts may clear because of a fix, and until when they have to."""

    merged_at: datetime
    since: datetime
    deadline: datetime


def _judged(start: _Start, cleared: datetime | None, patience: Patience, now: datetime) -> Verdict:
    merged_at = start.merged_at
    if cleared is None:
        if now < start.deadline:
            return Look(start.deadline)
        minutes = (now - merged_at).total_seconds() / 60
        return Ineffective(f"the alerts still fire {minutes:.0f} minutes after the merge")
    believed = max(cleared, merged_at) + patience.verify
    if now < believed:
        return Look(believed)
    if cleared < start.since:
        return _calm(merged_at, cleared)
    return Verified((cleared - merged_at).total_seconds() / 60)


def _calm(merged_at: datetime, cleared: datetime) -> Calm:
    return Calm() if cleared < merged_at else Calm("reached the cluster")


def _on_its_way(
    merged_at: datetime,
    cleared: datetime | None,
    patience: Patience,
    now: datetime,
    arrival: Arrival,
) -> Verdict:
    """Return what follows while a fix is not in the cluster: it can neither help nor fail."""
    if cleared is not None and now >= max(cleared, merged_at) + patience.verify:
        return _calm(merged_at, cleared)
    has_failed = arrival.standing is Standing.FAILED
    late = merged_at + patience.sync + (timedelta() if has_failed else patience.verify)
    if now < late:
        return Look(min(next_look(now), late))
    if cleared is not None:
        return Look(next_look(now))
    what = "could not bring it" if has_failed else "has not brought it"
    return Undelivered(f"{arrival.by} {what} to the cluster: {arrival.words}")
