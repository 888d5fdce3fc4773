"""Say on a pull request of ours, once for each run, that its alert came in again."""

from tocsin_action.ports import Approvals, Forges, Issues
from tocsin_contracts import FoundPull, PullRequestCommented, PullRequestFound, RunId
from tocsin_contracts.views import ApprovalState
from tocsin_gitops.config import GitOps
from tocsin_kit import logging
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line

_PLAIN = str.maketrans({"`": "'", "<": "\u2039", "@": "\uff20", "[": "(", "]": ")"})

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
        """Comment on the pull request that was found, if it is ours; return what was said.

        A forge that forbids it is not asked again: nothing depends on a comment.
        """
        if not await self._is_granted(event):
            log.info("action.no_comment", url=event.url, why="no approval of ours made it")
            return []
        repository = self._gitops.repository(event.repo)
        forge = self._forges[repository.host]
        try:
            said = await forge.comment(repository, event.number, body(event), marker(event))
        except PermanentError as error:
            log.warning("action.comment_refused", url=event.url, why=str(error))
            return []
        return [
            PullRequestCommented(
                run_id=event.run_id, url=event.url, comment=said.id, comment_url=said.url
            )
        ]

    async def _is_granted(self, event: PullRequestFound) -> bool:
        """Whether the record of an approval stands behind a commit of the pull request."""
        for one in await self._issues.written(event.issue_key):
            if one.url == event.url:
                approval = await self._approvals.get(RunId(one.run_id), one.plan_hash)
                if approval and approval.state is ApprovalState.GRANTED:
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
        else f"Nothing is written to it: {line(event.why, 300)}."
    )
    title = line(event.alert.title, 200).translate(_PLAIN)
    return f"The alert {title} came in again, as run {event.run_id}. {next_step}"
