"""Decide what is done about an issue that may have pull requests already; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tocsin_contracts import Edit, EndReason, FoundPull
from tocsin_gitops.hashing import numbered_branch
from tocsin_gitops.pulls import PullRequest, PullState
from tocsin_kit.issues import Written

MOST_PULLS = 2
"""Pull requests of one issue within a day; the next one is for a person to want."""

MOST_BRANCHES = 99
DAY = timedelta(days=1)
LAG = timedelta(minutes=10)
"""How long a forge may take to list a pull request that it has opened."""

LOOK_AGAIN = 60.0
"""Seconds until something that time will tell is looked at again."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How long a merged fix is watched, and how long a person's no holds."""

    verify: timedelta
    cool_down: timedelta


@dataclass(frozen=True, slots=True)
class Seen:
    """One branch of the issue: where it is, None if it is gone, and its pull requests."""

    branch: str
    at: str | None
    pulls: tuple[PullRequest, ...]

    @property
    def pull(self) -> PullRequest | None:
        """The open pull request of the branch, or else its newest."""
        still = (pull for pull in self.pulls if pull.state is PullState.OPEN)
        return next(still, next(iter(self.pulls), None))


@dataclass(frozen=True, slots=True)
class Lacking:
    """What the head of an open pull request lacks of the change: nothing, edits, or it is unclear.

    `why` says why it cannot be told; empty if it can.
    """

    edits: tuple[Edit, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything that is known about an issue when a change for it is found.

    `seen` are its branches, the first one first. `ended_at` is when the pull request that counts
    ended, and `lacking` what its head lacks; each is only asked for where it matters.
    `refused_until` is until when a no to an earlier plan holds.
    """

    head_branch: str
    base_branch: str
    seen: tuple[Seen, ...] = ()
    written: tuple[Written, ...] = ()
    ended_at: datetime | None = None
    lacking: Lacking = Lacking()
    refused_until: datetime | None = None

    @property
    def current(self) -> Seen | None:
        """The branch that counts: the last one with an open pull request, or else the last one."""
        still = [one for one in self.seen if one.pull and one.pull.state is PullState.OPEN]
        return next(reversed(still or self.seen), None)


@dataclass(frozen=True, slots=True)
class Open:
    """A new pull request, from a branch that nobody has used."""

    branch: str


@dataclass(frozen=True, slots=True)
class Increment:
    """One more commit on the branch of an open pull request whose head is ours."""

    pull: PullRequest
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """An open pull request that nothing is written to."""

    pull: PullRequest
    found: FoundPull
    why: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Time will tell; look again after so many seconds."""

    why: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Closed:
    """A person closed the last one, and that holds for a while."""

    pull: PullRequest
    until: datetime


@dataclass(frozen=True, slots=True)
class Refused:
    """A person said no to the last plan, and that holds for a while."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Stop:
    """A person has to look at it."""

    reason: EndReason
    sentence: str


Decision = Open | Increment | Found | Wait | Closed | Refused | Stop


def decide(standing: Standing, rules: Rules, now: datetime) -> Decision:
    """Return what is done about the issue; what people did there is never undone or redone."""
    decision, until = _found(standing, rules, now), standing.refused_until
    if until and now < until and isinstance(decision, Open | Increment):
        return Refused(until)
    return decision


def _found(standing: Standing, rules: Rules, now: datetime) -> Decision:
    current = standing.current
    if current is None:
        return Open(standing.head_branch)
    pull = current.pull
    if pull is None:
        return _without_pull(standing, current, now)
    if pull.state is PullState.OPEN:
        return _while_open(standing, pull)
    return _after(pull, standing.ended_at or now, rules, now) or _next(standing, now)


def _after(pull: PullRequest, ended: datetime, rules: Rules, now: datetime) -> Decision | None:
    """While a merge is fresh it is watched, and while a no is fresh it holds."""
    merged = pull.state is PullState.MERGED
    until = ended + (rules.verify if merged else rules.cool_down)
    if now >= until:
        return None
    if not merged:
        return Closed(pull, until)
    why = f"{pull.url} was merged at {ended:%H:%M} UTC: whether it helps is to be seen"
    return Wait(why, min(LOOK_AGAIN, (until - now).total_seconds()))


def _while_open(standing: Standing, pull: PullRequest) -> Decision:
    """What it holds decides first: a change that is proposed is proposed, whoever did it."""
    lacking = standing.lacking
    if not lacking.why and not lacking.edits:
        return Found(pull, FoundPull.SUFFICIENT, "it holds the whole change")
    if lacking.why:
        return Found(pull, FoundPull.HANDS_OFF, f"nothing can be added to it: {lacking.why}")
    if pull.base_branch != standing.base_branch:
        return Found(pull, FoundPull.HANDS_OFF, f"it goes to the branch {pull.base_branch!r}")
    if pull.commit not in _commits(standing):
        why = f"its head {pull.commit[:10]} is no commit of ours, so it is left to people"
        return Found(pull, FoundPull.HANDS_OFF, why)
    return Increment(pull, lacking.edits)


def _without_pull(standing: Standing, current: Seen, now: datetime) -> Decision:
    """A branch whose pull request is not listed: yet, or because somebody died between the two."""
    ours = [one for one in standing.written if one.commit == current.at]
    if not ours:
        at = (current.at or "")[:10]
        return Stop(
            EndReason.BRANCH_TAKEN,
            f"The branch {current.branch!r} is at {at}, which is no commit of ours, and has no "
            "pull request. Look at it, then decide by hand.",
        )
    if now < ours[-1].at + LAG:
        return Wait(f"{ours[-1].url} is not listed yet", LOOK_AGAIN)
    return _next(standing, now)


def _next(standing: Standing, now: datetime) -> Decision:
    """The next branch: an old one is never reset, forced or deleted."""
    if len(_opened(standing, now - DAY)) >= MOST_PULLS:
        return Stop(
            EndReason.TOO_MANY_PULLS,
            f"{MOST_PULLS} pull requests were opened for this issue within a day, and it is back. "
            "Another one is for a person to open.",
        )
    number = len(standing.seen) + 1
    if number > MOST_BRANCHES:
        sentence = f"{MOST_BRANCHES} branches of this issue are there; delete the old ones."
        return Stop(EndReason.TOO_MANY_PULLS, sentence)
    return Open(numbered_branch(standing.head_branch, number))


def _opened(standing: Standing, since: datetime) -> set[str]:
    listed = {p.url for seen in standing.seen for p in seen.pulls if p.opened_at > since}
    return listed | {one.url for one in standing.written if one.opened and one.at > since}


def _commits(standing: Standing) -> Sequence[str]:
    return [one.commit for one in standing.written]
