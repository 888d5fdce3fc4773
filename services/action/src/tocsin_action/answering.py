"""Answer a comment on a pull request of ours, once for each comment, and do nothing else."""

from collections.abc import Sequence

from tocsin_action.commenting import Comments
from tocsin_action.followed import followed
from tocsin_action.following import Following
from tocsin_action.ports import Approvals, Reader
from tocsin_action.wording import plain, quoted
from tocsin_contracts import (
    AnswerKind,
    ApprovalRequested,
    ChangeProposed,
    CommentAnswered,
    Event,
    Intent,
    PlanDrafted,
    ProposalDropped,
    PullRequestCommented,
    Remark,
    RunId,
    RunState,
    derive_id,
)
from tocsin_kit import logging
from tocsin_kit.errors import TransientError
from tocsin_kit.run_view import Run
from tocsin_kit.steering import Steering

TURN_SECONDS = 15.0
"""Between two looks at whether a change that a comment asked for has had its turn."""

log = logging.get(__name__)


class Answering:
    """Posts what rca concluded; that its author may steer the run is looked at once more."""

    def __init__(
        self,
        comments: Comments,
        approvals: Approvals,
        runs: Reader,
        following: Following,
        *,
        steering: Steering,
        console: str = "",
    ) -> None:
        self._comments = comments
        self._approvals = approvals
        self._runs = runs
        self._following = following
        self._steering = steering
        self._console = console

    async def on_comment_answered(self, event: CommentAnswered) -> Sequence[Event]:
        """Post an answer; one that proposes is answered by what becomes of its proposal."""
        if event.kind is AnswerKind.PROPOSE:
            return []
        return await self._say(event.run_id, event.remark, answer(event))

    async def on_approval_requested(self, event: ApprovalRequested) -> Sequence[Event]:
        """Say that the plan which a comment asked for waits, and where."""
        remark = event.hypothesis.remark
        if remark is None or event.plan.intent is not Intent.INCREMENT:
            return []
        return await self._say(event.run_id, remark, waiting(event, self._console))

    async def on_proposal_dropped(self, event: ProposalDropped) -> Sequence[Event]:
        """Say why no plan comes of a comment, and look after the pull request as before."""
        run = await self._runs.get(event.run_id)
        drafted = run.fact(PlanDrafted) if run else None
        if drafted and drafted.hypothesis.remark == event.remark:
            await self._approvals.withdraw(event.run_id, drafted.plan.plan_hash)
        pull = followed(run) if run else None
        if pull:
            await self._following.start(event.run_id, pull.url, event.at)
        return await self._say(event.run_id, event.remark, dropped(event.why))

    async def on_change_proposed(self, event: ChangeProposed) -> Sequence[Event]:
        """Say that nothing comes of a change whose pull request was merged before its turn.

        Until then whoever drafts plans answers; TransientError while that may still be.
        """
        run, remark = await self._runs.get(event.run_id), event.hypothesis.remark
        if run is None or remark is None or _is_settled(run, remark):
            return []
        if run.state is not RunState.PR_MERGED:
            raise TransientError("its plan may still have its turn", retry_in=TURN_SECONDS)
        pull = followed(run)
        why = f"{pull.url if pull else 'the pull request'} is merged already."
        return await self._say(event.run_id, remark, dropped(why))

    async def _say(self, run_id: RunId, remark: Remark, body: str) -> list[PullRequestCommented]:
        run = await self._runs.get(run_id)
        pull = followed(run) if run else None
        if pull is None or not self._steering.allows(remark.author):
            log.info("action.no_answer", author=remark.author, why="nobody who may steer asked")
            return []
        said = await self._comments.post(pull, body, marker(remark))
        if said is None:
            return []
        return [
            PullRequestCommented(
                run_id=run_id, url=pull.url, comment=said.id, comment_url=said.url, remark=remark
            )
        ]


def marker(remark: Remark) -> str:
    """Return what makes one answer of any number of tries; what a forge sent is no part of it."""
    return f"tocsin-answer:{derive_id(f'{remark.author}|{remark.delivery}', 'answer')}"


def answer(event: CommentAnswered) -> str:
    """Return an answer: its words as they are, and what they rest on."""
    cites = ", ".join(plain(one, 40) for one in event.cites)
    told = "Not done, because:" if event.kind is AnswerKind.DISAGREE else "In answer:"
    where = f"Evidence {cites} of run" if cites else "Run"
    rests = f"{where} {event.run_id}. Nothing is changed by this."
    return f"{told}\n\n{quoted(event.words)}\n\n{rests}"


def waiting(event: ApprovalRequested, console: str) -> str:
    """Return that a plan waits for a yes of its own."""
    where = f" {console.rstrip('/')}/runs/{event.run_id}" if console else ""
    return (
        f"A new plan for this pull request waits for an approval of its own: plan "
        f"{event.plan.short_hash} of run {event.run_id}.{where} Nothing is written before."
    )


def dropped(why: str) -> str:
    """Return why no plan waits."""
    return f"No new plan comes of this, and nothing is changed:\n\n{quoted(why)}"


def _is_settled(run: Run, remark: Remark) -> bool:
    """Whether a plan was drafted for a comment, or it is said that none will be."""
    drafted, dropped = run.fact(PlanDrafted), run.fact(ProposalDropped)
    planned = drafted is not None and drafted.hypothesis.remark == remark
    return planned or (dropped is not None and dropped.remark == remark)
