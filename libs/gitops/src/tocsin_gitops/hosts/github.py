"""Pull requests of GitHub and GitHub Enterprise, as anybody who may read can see them."""

from datetime import UTC, datetime

from pydantic import AwareDatetime, BaseModel

from tocsin_gitops.config import Repository
from tocsin_gitops.hosts.client import ForgeClient, at
from tocsin_gitops.hosts.github_api import PAGE, GitHubApi
from tocsin_gitops.providers import HostType
from tocsin_gitops.pulls import Comment, PullRequest, PullState

MOST_PATHS, MOST_COMMENTS = 300, 1000
_NEWEST_FIRST = {"sort": "created", "direction": "desc"}


class _WithId(BaseModel):
    id: int


class _Side(BaseModel):
    ref: str
    sha: str
    repo: _WithId | None = None


class _File(BaseModel):
    filename: str
    previous_filename: str = ""


class Pull(BaseModel):
    """A pull request as GitHub tells it; the head's repository is gone with a deleted fork."""

    number: int
    title: str
    body: str | None
    state: str
    head: _Side
    base: _Side
    created_at: AwareDatetime
    closed_at: AwareDatetime | None
    merged_at: AwareDatetime | None
    merge_commit_sha: str | None
    merged_by: _WithId | None = None
    html_url: str

    @property
    def is_from_a_fork(self) -> bool:
        """Whether its branch is one of another repository."""
        return self.head.repo is None or self.head.repo != self.base.repo

    def read(self) -> PullRequest:
        """Return it in our words."""
        merged = self.merged_at is not None
        unmerged = PullState.OPEN if self.state == "open" else PullState.CLOSED
        return PullRequest(
            number=self.number,
            title=self.title,
            body=self.body or "",
            head_branch=self.head.ref,
            base_branch=self.base.ref,
            commit=self.head.sha,
            state=PullState.MERGED if merged else unmerged,
            opened_at=self.created_at,
            url=self.html_url,
            ended_at=self.merged_at or self.closed_at,
            ended_by=str(self.merged_by.id) if self.merged_by else "",
            merged_commit=(self.merge_commit_sha or "") if merged else "",
        )


class IssueComment(BaseModel):
    """A comment as GitHub tells it; one whose author is gone has no user."""

    id: int
    user: _WithId | None
    body: str = ""
    created_at: AwareDatetime
    html_url: str

    def read(self) -> Comment:
        """Return it in our words."""
        return Comment(
            id=str(self.id),
            author=str(self.user.id) if self.user else "",
            body=self.body,
            at=self.created_at,
            url=self.html_url,
        )


class GitHubPulls:
    """Reads pull requests; one client reads every repository of its provider.

    `GitHubPulls(client: ForgeClient)` is a PullReader. Comments are those of the conversation,
    not those on single lines.
    """

    name = HostType.GITHUB.value

    def __init__(self, client: ForgeClient) -> None:
        self._api = GitHubApi(client)

    async def pulls(self, repository: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return every pull request from a branch of the repository itself, the newest first."""
        owner = repository.name.partition("/")[0]
        asked = {"head": f"{owner}:{head_branch}", "state": "all", **_NEWEST_FIRST}
        found = await self._api.pages(list[Pull], repository, "/pulls", asked, PAGE)
        return tuple(
            pull.read()
            for pull in found
            if pull.head.ref == head_branch and not pull.is_from_a_fork
        )

    async def open_pulls(self, repository: Repository) -> tuple[PullRequest, ...]:
        """Return the open pull requests that go to the repository's base branch, at most 100."""
        asked = {"base": repository.branch, "state": "open", **_NEWEST_FIRST}
        found = await self._api.pages(list[Pull], repository, "/pulls", asked, PAGE)
        return tuple(pull.read() for pull in found)

    async def touched(self, repository: Repository, number: int) -> tuple[str, ...]:
        """Return the paths that a pull request touches, at most 300; old names are among them."""
        path = at("pulls", number, "files")
        files = await self._api.pages(list[_File], repository, path, {}, MOST_PATHS)
        names = (name for file in files for name in (file.filename, file.previous_filename))
        return tuple(dict.fromkeys(name for name in names if name))[:MOST_PATHS]

    async def proposed(self, repository: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as a pull request proposes it; None if it has no such file."""
        return await self._api.content(repository, at("contents", *path.split("/")), pull.commit)

    async def comments(
        self, repository: Repository, number: int, since: datetime
    ) -> tuple[Comment, ...]:
        """Return the comments that were written since then, the oldest first, at most 1000."""
        asked = {"since": since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
        path = at("issues", number, "comments")
        found = await self._api.pages(list[IssueComment], repository, path, asked, MOST_COMMENTS)
        return tuple(one.read() for one in found if one.created_at >= since)
