"""Say on a pull request of ours, once for each run, that its alert came in again."""

from tocsin_action.followed import Followed, place
from tocsin_action.ports import Approvals, Forges, Issues
from tocsin_action.wording import plain
from tocsin_contracts import FoundPull, PullRequestCommented, PullRequestFound, RunId
from tocsin_contracts.views import ApprovalState
from tocsin_gitops.config import GitOps
from tocsin_gitops.pulls import Comment
from tocsin_kit import logging
from tocsin_kit.errors import PermanentError

log = logging.get(__name__)


class Comments:
    """Comments only where a person has said yes to what the pull request is made of."""

    def __init__(
        self, gitops: GitOps, forges: Forges, issues: Issues, approvals: Approvals
    ) -> None:
        self._gitops = gitops
        self._forges = forges
        self._issues = issues
        self._approvals = approvals

    async def say(self, event: PullRequestFound) -> list[PullRequestCommented]:
        """Comment on the pull request that was found, if it is ours; return what was said."""
        said = await self.post(place(event), body(event), marker(event))
        if said is None:
            return []
        return [
            PullRequestCommented(
                run_id=event.run_id, url=event.url, comment=said.id, comment_url=said.url
            )
        ]

    async def post(self, pull: Followed, words: str, mark: str) -> Comment | None:
        """Comment once for each mark; None where no approval of ours made the pull request.

        A forge that forbids it is not asked again: nothing depends on a comment.
        """
        if not pull.number or not await self._is_granted(pull):
            log.info("action.no_comment", url=pull.url, why="no approval of ours made it")
            return None
        repository = self._gitops.repository(pull.repo)
        try:
            return await self._forges[repository.host].comment(repository, pull.number, words, mark)
        except PermanentError as error:
            log.warning("action.comment_refused", url=pull.url, why=str(error))
            return None

    async def _is_granted(self, pull: Followed) -> bool:
        """Whether the record of an approval stands behind a commit of the pull request."""
        for one in await self._issues.written(pull.issue_key):
            if one.url == pull.url:
                approval = await self._approvals.get(RunId(one.run_id), one.plan_hash)
                if approval is None or approval.plan_hash != one.plan_hash:
                    continue
                if approval.state is ApprovalState.GRANTED:
                    return True
        return False


def marker(event: PullRequestFound) -> str:
    """Return what makes one comment of any number of tries: a run is one episode."""
    return f"tocsin-run:{event.run_id}"


def body(event: PullRequestFound) -> str:
    """Return what people read; words of others stay on their line."""
    next_step = (
        "It holds the whole change, so nothing else is proposed."
        if event.found is FoundPull.SUFFICIENT
        else f"Nothing is written to it: {plain(event.why, 300)}."
    )
    title = plain(event.alert.title, 200)
    return f"The alert {title} came in again, as run {event.run_id}. {next_step}"
