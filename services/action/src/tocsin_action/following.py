"""Follow a pull request from its opening to its end, and a merged fix until it is proven."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tocsin_action import commenting, endings, outcome, proving
from tocsin_action.arrival import UNTOLD, Arrival
from tocsin_action.followed import (
    Followed,
    arrived_before,
    first_look,
    fix_look,
    followed,
    look_now,
    looked,
    next_look,
    still_open,
)
from tocsin_action.ports import Clock, Deploying, Issues, Reader, Source, Tallies, Timers
from tocsin_action.proving import Look, Patience
from tocsin_contracts import (
    AlertAccepted,
    EndReason,
    Event,
    ForgeEventKind,
    ForgeEventReceived,
    FoundPull,
    PlanDrafted,
    ProposalDropped,
    PullRequestClosed,
    PullRequestFound,
    PullRequestMerged,
    RunId,
    RunState,
)
from tocsin_gitops.config import GitOps
from tocsin_gitops.hashing import is_undo
from tocsin_gitops.pulls import PullRequest, PullState
from tocsin_kit.errors import TransientError
from tocsin_kit.pulls import behind
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally
from tocsin_kit.timers import Timer
from tocsin_kit.untrusted import line

GONE = timedelta(hours=1)
"""How long a pull request may be missing from a list before it counts as deleted."""

WRITTEN = (RunState.APPLYING, RunState.PR_OPEN)
"""Where a pull request of the run is, or is about to be, open."""


class Following:
    """What the forge shows is what is so; what it sends only says when to look.

    Every look may be late, come twice, or come after the end: then it finds nothing to do.
    """

    def __init__(
        self,
        *,
        gitops: GitOps,
        source: Source,
        comments: commenting.Comments,
        issues: Issues,
        runs: Reader,
        tallies: Tallies,
        timers: Timers,
        clock: Clock,
        patience: Patience,
        deploying: Deploying | None = None,
    ) -> None:
        self._gitops = gitops
        self._source = source
        self._comments = comments
        self._issues = issues
        self._runs = runs
        self._tallies = tallies
        self._timers = timers
        self._clock = clock
        self._patience = patience
        self._deploying = deploying

    async def start(self, run_id: RunId, url: str, at: datetime) -> None:
        """Begin to look at a pull request that was opened, or written to, at that time."""
        await self._timers.set_timer(first_look(run_id, url, at))

    def cool_down(self, said_at: datetime) -> datetime:
        """Return until when a no holds that a person said then."""
        return said_at + self._patience.cool_down

    async def refuse(self, issue_key: str, until: datetime) -> None:
        """Keep that nothing is to be proposed for an issue before then."""
        await self._issues.refuse(issue_key, until)

    async def cleared(self, run: Run, at: datetime) -> None:
        """Look at a merged fix as soon as its alerts, which cleared then, may be believed."""
        told, merged = followed(run), run.fact(PullRequestMerged)
        if run.state is RunState.PR_MERGED and told and merged:
            believed = max(at, merged.merged_at) + self._patience.verify
            await self._timers.set_timer(fix_look(run.id, told.url, believed))

    async def on_pull_request_found(self, event: PullRequestFound) -> Sequence[Event]:
        """Say once that the alert came again, then follow what is open or leave it to people."""
        said = await self._comments.say(event)
        if event.found is FoundPull.SUFFICIENT:
            await self.start(event.run_id, event.url, event.at)
            return said
        sentence = f"{event.url} of this issue is open, and {event.why}. A person has to go on."
        return [
            *said,
            endings.ended(event.run_id, RunState.ESCALATED, EndReason.BRANCH_TAKEN, sentence),
        ]

    async def on_forge_event(self, event: ForgeEventReceived) -> None:
        """Look at once at a pull request that something happened to."""
        if event.kind is ForgeEventKind.COMMENTED:
            return
        run = await self._runs.get(event.run_id)
        pull = still_open(run) if run and not run.state.terminal else None
        if pull:
            await self._timers.set_timer(look_now(event.run_id, pull.url, event.at))

    async def on_pull_look(self, timer: Timer) -> Sequence[Event]:
        """See what people did with a pull request."""
        run = await self._runs.get(timer.run_id)
        if run is None or run.state not in WRITTEN:
            return await self._while_asked(run, timer) if run else []
        told = followed(run)
        if run.state is RunState.APPLYING or told is None:
            raise TransientError("the pull request is being written")
        if told.url != looked(timer)[1]:
            return []
        pull = await self._pull(told)
        if pull is None or pull.state is PullState.OPEN:
            await self._timers.set_timer(next_look(timer, self._clock.now()))
            is_gone = pull is None and await self._is_gone(told)
            return [endings.gone(run.id, told.url)] if is_gone else []
        ended_at = await self._ended_at(told, pull)
        if pull.state is PullState.MERGED:
            return await self._merged(run, told, pull, ended_at)
        return self._closed(run.id, pull, ended_at)

    async def _while_asked(self, run: Run, timer: Timer) -> Sequence[Event]:
        """Look on while another value is decided on: who ends the pull request ends that too."""
        told, drafted = still_open(run), run.fact(PlanDrafted)
        remark = drafted.hypothesis.remark if drafted else None
        if told is None or told.url != looked(timer)[1]:
            return []
        pull = await self._pull(told) if run.state is RunState.AWAITING_APPROVAL else None
        if remark and pull and pull.state is not PullState.OPEN:
            why = f"{told.url} is {pull.state.value} already."
            return [ProposalDropped(run_id=run.id, remark=remark, why=why)]
        await self._timers.set_timer(next_look(timer, self._clock.now()))
        return []

    async def on_fix_look(self, timer: Timer) -> Sequence[Event]:
        """See whether the alerts stay clear after a merge, or fire on."""
        run = await self._runs.get(timer.run_id)
        told = followed(run) if run else None
        if run is None or told is None or told.url != timer.about:
            return []
        merged, now = run.fact(PullRequestMerged), self._clock.now()
        if run.state is RunState.PR_OPEN or now < timer.due_at:
            raise TransientError("it is too early to tell")
        if run.state is not RunState.PR_MERGED or merged is None:
            return []
        cleared = proving.cleared_at(run, await self._tally(run))
        arrived = arrived_before(run, told)
        arrival = UNTOLD if arrived else await self._arrival(run, merged)
        fact = proving.deployed(merged, arrival, now)
        verdict = proving.judge(
            merged.merged_at, cleared, self._patience, now, arrived=arrived or fact, arrival=arrival
        )
        said: list[Event] = [fact] if fact else []
        if isinstance(verdict, Look):
            await self._timers.set_timer(fix_look(run.id, told.url, verdict.at))
            return said
        return [*said, *outcome.proven(run, told, merged, verdict)]

    async def _arrival(self, run: Run, merged: PullRequestMerged) -> Arrival:
        """Where the merged commit stands; untold where nobody watches, or another run wrote it."""
        known = behind(run)
        if self._deploying is None or known is None:
            return UNTOLD
        return await self._deploying.arrival(known.alert, known.plan.target, merged.merged_commit)

    async def _tally(self, run: Run) -> Tally | None:
        accepted = run.fact(AlertAccepted)
        return await self._tallies.one(accepted.incident_key, run.id) if accepted else None

    async def _pull(self, told: Followed) -> PullRequest | None:
        """The pull request as its forge shows it; None while the listing lags."""
        repository = self._gitops.repository(told.repo)
        pulls = await self._source.pulls(repository, told.head_branch)
        return next((pull for pull in pulls if pull.url == told.url), None)

    async def _is_gone(self, told: Followed) -> bool:
        now = self._clock.now()
        return now - await self._issues.ended(told.issue_key, told.url, now) >= GONE

    async def _ended_at(self, told: Followed, pull: PullRequest) -> datetime:
        now = self._clock.now()
        return pull.ended_at or await self._issues.ended(told.issue_key, told.url, now)

    async def _merged(
        self, run: Run, told: Followed, pull: PullRequest, merged_at: datetime
    ) -> Sequence[Event]:
        merged = PullRequestMerged(
            run_id=run.id,
            url=told.url,
            by=line(pull.ended_by),
            merged_at=merged_at,
            merged_commit=pull.merged_commit,
        )
        if is_undo(told.issue_key):
            sentence = (
                f"The fix did not help, and {told.url} undid it. The alerts need a person now."
            )
            return [
                merged,
                endings.ended(run.id, RunState.ESCALATED, EndReason.FIX_INEFFECTIVE, sentence),
            ]
        look_at = merged_at + self._patience.verify
        if self._deploying and behind(run):
            look_at = min(look_at, proving.next_look(self._clock.now()))
        await self._timers.set_timer(fix_look(run.id, told.url, look_at))
        return [merged]

    def _closed(self, run_id: RunId, pull: PullRequest, closed_at: datetime) -> Sequence[Event]:
        until, by = self.cool_down(closed_at), line(pull.ended_by)
        who = f" by {by}" if by else ""
        sentence = (
            f"{pull.url} was closed{who} without a merge. Nothing is proposed for this issue "
            f"before {until:%Y-%m-%d %H:%M} UTC."
        )
        ended = endings.ended(run_id, RunState.PR_CLOSED, EndReason.CLOSED_BY_PERSON, sentence)
        return [
            PullRequestClosed(run_id=run_id, url=pull.url, by=by, closed_at=closed_at, until=until),
            ended.model_copy(update={"reopens_at": until}),
        ]
