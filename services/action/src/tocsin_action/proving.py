"""Whether a merged fix helped, as the alerts of its run tell; pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tocsin_contracts import AlertRepeated, AlertResolved, AlertStatus
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
    """The alerts had cleared before the merge, and stayed clear: the fix is not proven."""


@dataclass(frozen=True, slots=True)
class Ineffective:
    """The alerts fire on, longer than a fix takes."""

    why: str


@dataclass(frozen=True, slots=True)
class Look:
    """It cannot be told before then."""

    at: datetime


Verdict = Verified | Calm | Ineffective | Look


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


def judge(
    merged_at: datetime, cleared: datetime | None, patience: Patience, now: datetime
) -> Verdict:
    """Return what the alerts say about a merge, or when to look again."""
    if cleared is None:
        deadline = merged_at + patience.sync + patience.verify
        if now < deadline:
            return Look(deadline)
        minutes = (now - merged_at).total_seconds() / 60
        return Ineffective(f"the alerts still fire {minutes:.0f} minutes after the merge")
    believed = max(cleared, merged_at) + patience.verify
    if now < believed:
        return Look(believed)
    if cleared < merged_at:
        return Calm()
    return Verified((cleared - merged_at).total_seconds() / 60)
