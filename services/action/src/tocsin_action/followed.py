"""Which pull request a run follows, and when it is looked at; pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tocsin_contracts import FixDeployed, PullRequestFound, PullRequestMerged, RunId, RunState
from tocsin_kit.pulls import Told, told
from tocsin_kit.run_view import Run
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind

_FIRST, _LONGEST, _STEADY = 1, 30, 5
"""Minutes between two looks: they double from the first to the longest, at which they stay."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Followed:
    """The pull request a run follows; `plan_hash` is empty for one that another run opened."""

    repo: str
    url: str
    head_branch: str
    commit: str
    issue_key: str
    plan_hash: str
    number: int


def followed(run: Run) -> Followed | None:
    """Return the pull request that the newest fact about one tells of."""
    newest = told(run)
    return place(newest) if newest else None


def place(fact: Told) -> Followed:
    """Return the pull request that a fact tells of."""
    return Followed(
        repo=fact.repo,
        url=fact.url,
        head_branch=fact.head_branch,
        commit=fact.commit,
        issue_key=fact.issue_key,
        plan_hash="" if isinstance(fact, PullRequestFound) else fact.plan_hash,
        number=fact.number,
    )


def still_open(run: Run) -> Followed | None:
    """Return the pull request that nobody has ended yet, as far as the run knows."""
    merged = run.fact(PullRequestMerged) and run.state is not RunState.PR_OPEN
    return None if merged else followed(run)


def arrived_before(run: Run, told: Followed) -> FixDeployed | None:
    """Return the fact that what a pull request changed is in the cluster, if it is known."""
    fact = run.fact(FixDeployed)
    return fact if fact and fact.url == told.url else None


def first_look(run_id: RunId, url: str, after: datetime) -> Timer:
    """Return the timer of the first look at a pull request."""
    return _look(run_id, url, 0, after + timedelta(minutes=_FIRST))


def look_now(run_id: RunId, url: str, now: datetime) -> Timer:
    """Return the timer of a look at once, from which on the looks are frequent again."""
    return _look(run_id, url, 0, now)


def next_look(timer: Timer, now: datetime) -> Timer:
    """Return the timer that follows one: the same from whoever sets it again.

    Those that were missed are left out, and the steady ones of a run are on the same minutes: of
    all that began because something happened, one goes on.
    """
    count, url = looked(timer)
    count = min(count + 1, _STEADY)
    gap = timedelta(minutes=min(_FIRST * 2**count, _LONGEST))
    due = timer.due_at + gap
    if due <= now or count == _STEADY:
        due = max(due, now + gap)
        due -= (due - _EPOCH) % gap
    return _look(timer.run_id, url, count, due)


def looked(timer: Timer) -> tuple[int, str]:
    """Return how many looks there were before this one, and at which pull request."""
    count, _, url = timer.about.partition(" ")
    return int(count), url


def fix_look(run_id: RunId, url: str, at: datetime) -> Timer:
    """Return the timer of a look at what became of the alerts after a merge."""
    return Timer(kind=TimerKind.FIX_LOOK, run_id=run_id, due_at=at, about=url)


def _look(run_id: RunId, url: str, count: int, at: datetime) -> Timer:
    return Timer(kind=TimerKind.PULL_LOOK, run_id=run_id, due_at=at, about=f"{count} {url}")
