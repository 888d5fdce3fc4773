"""Open pull requests on GitHub and GitHub Enterprise, each once, whatever is lost on the way."""

from tocsin_gitops.config import Repository
from tocsin_gitops.forges import commits, markers
from tocsin_gitops.forges.github_git import GitData
from tocsin_gitops.forges.port import BranchTaken, PullRequestRequest
from tocsin_gitops.forges.remote import EVER, LOOKS, NO_COMMIT
from tocsin_gitops.hosts.client import ForgeClient, at
from tocsin_gitops.hosts.failures import ConflictError
from tocsin_gitops.hosts.github import GitHubPulls, IssueComment, Pull
from tocsin_gitops.hosts.github_api import GitHubApi
from tocsin_gitops.providers import HostType
from tocsin_gitops.pulls import Comment, PullRequest, PullState
from tocsin_kit.errors import PermanentError, TransientError


class GitHubForge:
    """Writes through the REST API of one provider.

    `GitHubForge(client: ForgeClient)` is a Forge. The commit follows from the request alone, so a
    second try arrives at the same commit, and whatever was left undone is done then.
    """

    name = HostType.GITHUB.value

    def __init__(self, client: ForgeClient) -> None:
        self._api = GitHubApi(client)
        self._git = GitData(self._api)
        self._pulls = GitHubPulls(client)

    async def open_pull(self, request: PullRequestRequest) -> PullRequest:
        """Open the pull request, or return it if it was opened before; BranchTaken otherwise."""
        commits.refuse_other_branches(request)
        commit = await self._git.commit(request)
        known = await self._known(request, commit)
        if known is None:
            await self._git.create(request, commit)
            known = await self._opened(request, commit)
        if known.commit != commit:
            raise BranchTaken(request.head_branch, known.commit)
        return known

    async def add_commit(self, request: PullRequestRequest, number: int) -> PullRequest:
        """Add one commit to the branch of an open pull request, and show the new title and body.

        BranchTaken if the branch is neither at the approved parent nor at this very commit.
        """
        commits.refuse_other_branches(request)
        pull = await self._numbered(request, number)
        commit = await self._git.commit(request)
        there = await self._git.head(request.repository, request.head_branch) or NO_COMMIT
        has_ended_with_it = pull.state is not PullState.OPEN and pull.commit == commit
        if there != commit and not has_ended_with_it:
            if there != request.parent_sha:
                raise BranchTaken(request.head_branch, there)
            if pull.state is not PullState.OPEN:
                raise PermanentError(f"{pull.url} is {pull.state.value}; nothing is added to it")
            await self._git.advance(request, commit)
        if pull.state is PullState.OPEN and (pull.title, pull.body) != (
            request.title,
            request.body,
        ):
            text = {"title": request.title, "body": request.body}
            path = at("pulls", number)
            shown = await self._api.send(Pull, "PATCH", request.repository, path, text)
            pull = shown.read()
        return pull.model_copy(update={"commit": commit})

    async def comment(self, repository: Repository, number: int, body: str, marker: str) -> Comment:
        """Comment once for each marker, which goes into the comment unseen; return what is there.

        Only a comment of our own account that ends with the marker counts as there.
        """
        ends = markers.closing(marker)
        me = await self._api.me(repository)
        said = await self._pulls.comments(repository, number, EVER)
        known = markers.marked(said, me, marker)
        if known is not None:
            return known
        path = at("issues", number, "comments")
        written = {"body": f"{body}\n\n{ends}"}
        return (await self._api.send(IssueComment, "POST", repository, path, written)).read()

    async def _known(self, request: PullRequestRequest, commit: str) -> PullRequest | None:
        """Return this request's pull request, else the newest from the same branch, else None."""
        found = await self._pulls.pulls(request.repository, request.head_branch)
        same = [pull for pull in found if pull.base_branch == request.base_branch]
        ours = (pull for pull in same if pull.commit == commit)
        return next(ours, same[0] if same else None)

    async def _opened(self, request: PullRequestRequest, commit: str) -> PullRequest:
        made = {
            "title": request.title,
            "head": request.head_branch,
            "base": request.base_branch,
            "body": request.body,
        }
        try:
            opened = await self._api.send(Pull, "POST", request.repository, "/pulls", made)
        except ConflictError as refused:
            said = refused.said.lower()
            if "head is invalid" in said:
                raise TransientError(f"{refused}; the branch is new, so look again") from refused
            if "already exists" not in said:
                raise
            return await self._listed(request, commit, refused)
        return opened.read()

    async def _listed(
        self, request: PullRequestRequest, commit: str, refused: ConflictError
    ) -> PullRequest:
        for seconds in LOOKS:
            known = await self._known(request, commit)
            if known is not None:
                return known
            await self._api.clock.sleep(seconds)
        raise TransientError(f"{refused}; but it is not listed yet", retry_in=15) from refused

    async def _numbered(self, request: PullRequestRequest, number: int) -> PullRequest:
        found = await self._pulls.pulls(request.repository, request.head_branch)
        for pull in found:
            if pull.number == number:
                commits.refuse_other_pulls(pull, request)
                return pull
        raise PermanentError(
            f"{request.repository.name}: pull request {number} is not from {request.head_branch!r}"
        )
