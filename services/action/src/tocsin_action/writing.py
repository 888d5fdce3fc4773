"""Write an approved plan to its forge: a pull request, or one more commit of one that is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_action.ports import Forges, Issues, Source
from tocsin_contracts import Event, Intent, Plan, PullRequestOpened, PullRequestUpdated, RunId
from tocsin_gitops.config import Repository
from tocsin_gitops.forges import BranchTaken, PullRequestRequest
from tocsin_gitops.pulls import PullRequest, PullState
from tocsin_kit.errors import TransientError


@dataclass(frozen=True, slots=True)
class Mark:
    """What a plan became: its commit, and the pull request that holds it."""

    commit: str
    url: str


class Writer:
    """Writes each plan once, however often it is asked to."""

    def __init__(self, forges: Forges, source: Source, issues: Issues) -> None:
        self._forges = forges
        self._source = source
        self._issues = issues

    async def not_ours(self, repository: Repository, plan: Plan) -> str:
        """Return why nothing may be added to the pull request of a plan, or an empty string.

        Only a commit that is in our records is ours; a second try finds its own commit there.
        """
        if plan.intent is Intent.OPEN:
            return ""
        pull = await self._open_pull(repository, plan)
        if pull is None:
            return f"no pull request of {plan.head_branch!r} is open any more"
        ours = await self._issues.written(plan.issue_key)
        if plan.parent_sha not in {one.commit for one in ours}:
            return f"{plan.parent_sha[:10]}, on which it builds, is no commit of ours"
        return ""

    async def write(
        self, repository: Repository, plan: Plan, files: Mapping[str, bytes]
    ) -> PullRequest:
        """Return the pull request that holds the plan; BranchTaken if others were there first."""
        request = PullRequestRequest(
            repository=repository,
            base_branch=plan.target.base_branch,
            parent_sha=plan.parent_sha,
            head_branch=plan.head_branch,
            title=plan.title,
            body=plan.body,
            files=files,
        )
        forge = self._forges[repository.host]
        if plan.intent is Intent.OPEN:
            return await forge.open_pull(request)
        pull = await self._open_pull(repository, plan)
        if pull is None:
            raise BranchTaken(plan.head_branch, "that of a pull request that has ended")
        return await forge.add_commit(request, pull.number)

    async def seen(
        self, run_id: RunId, repository: Repository, plan: Plan, written: Mark, *, waited: bool
    ) -> Event:
        """See for ourselves that the forge shows what was written, and return what says so.

        Raises TransientError until it does, for listings lag; who has `waited` believes the forge,
        and leaves it to whoever follows the pull request to find that it is gone.
        """
        pulls = await self._source.pulls(repository, plan.head_branch)
        pull = next((one for one in pulls if one.url == written.url), None)
        if pull is None and not waited:
            raise TransientError(f"{plan.target.repo}: the pull request is not to be seen yet")
        told: dict[str, Any] = {
            "run_id": run_id,
            "repo": plan.target.repo,
            "url": written.url,
            "head_branch": plan.head_branch,
            "commit": written.commit,
            "plan_hash": plan.plan_hash,
            "title": plan.title,
            "number": pull.number if pull else 0,
            "issue_key": plan.issue_key,
        }
        if plan.intent is Intent.OPEN:
            return PullRequestOpened(**told)
        return PullRequestUpdated(**told)

    async def _open_pull(self, repository: Repository, plan: Plan) -> PullRequest | None:
        pulls = await self._source.pulls(repository, plan.head_branch)
        return next((one for one in pulls if one.state is PullState.OPEN), None)
