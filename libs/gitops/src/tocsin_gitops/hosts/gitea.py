"""Read the pull requests of Gitea and of Forgejo, which speaks the same language."""

from datetime import datetime

from pydantic import AwareDatetime, BaseModel

from tocsin_gitops.config import Repository
from tocsin_gitops.hosts.client import ForgeClient, at
from tocsin_gitops.hosts.content import content
from tocsin_gitops.pulls import Comment, PullRequest, PullState
from tocsin_kit.errors import PermanentError

PAGE = 50
MOST_PAGES = 10
MOST_OPEN = 100
MOST_FILES = 300


class User(BaseModel):
    """Who did something."""

    id: int


class Side(BaseModel):
    """One side of a pull request; `label` stays its branch when that is deleted, `ref` does not."""

    label: str = ""
    ref: str = ""
    sha: str = ""
    repo_id: int


class Pull(BaseModel):
    """What is read of a pull request."""

    number: int
    title: str
    body: str | None = None
    state: str
    html_url: str
    created_at: AwareDatetime
    closed_at: AwareDatetime | None = None
    merged: bool = False
    merged_at: AwareDatetime | None = None
    merged_by: User | None = None
    merge_commit_sha: str | None = None
    head: Side
    base: Side

    @property
    def is_own(self) -> bool:
        """Whether its branch is one of the repository itself, not of a fork."""
        return self.head.repo_id == self.base.repo_id

    @property
    def branch(self) -> str:
        """The branch it comes from."""
        return self.head.label or self.head.ref

    def pull(self) -> PullRequest:
        """Return it in our words."""
        unmerged = PullState.OPEN if self.state == "open" else PullState.CLOSED
        state = PullState.MERGED if self.merged else unmerged
        return PullRequest(
            number=self.number,
            title=self.title,
            body=self.body or "",
            head_branch=self.branch,
            base_branch=self.base.ref,
            commit=self.head.sha,
            state=state,
            opened_at=self.created_at,
            url=self.html_url,
            ended_at=self.merged_at if self.merged else self.closed_at,
            ended_by=str(self.merged_by.id) if self.merged and self.merged_by else "",
            merged_commit=(self.merge_commit_sha or "") if self.merged else "",
        )


class Said(BaseModel):
    """What is read of a comment."""

    id: int
    body: str
    user: User | None = None
    created_at: AwareDatetime
    html_url: str = ""

    def comment(self) -> Comment:
        """Return it in our words."""
        return Comment(
            id=str(self.id),
            author=str(self.user.id) if self.user else "",
            body=self.body,
            at=self.created_at,
            url=self.html_url,
        )


class ChangedFile(BaseModel):
    """One file of a pull request."""

    filename: str
    previous_filename: str = ""


def repo(repository: Repository, *segments: object) -> str:
    """Return a path of a repository `owner/name`."""
    owner, _, name = repository.name.partition("/")
    return at("repos", owner, name, *segments)


class GiteaPulls:
    """Reads pull requests with one client; a PullReader.

    Gitea cannot be asked by branch: the newest 500 that are open and the newest 500 that ended
    are looked through.
    """

    name = "gitea"

    def __init__(self, client: ForgeClient) -> None:
        self._client = client

    async def pulls(self, repository: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return every pull request from a branch of the repository itself, the newest first."""
        most = PAGE * MOST_PAGES
        found = [
            one.pull()
            for state in ("open", "closed")
            for one in await self._listed(repository, {"state": state}, most)
            if one.is_own and one.branch == head_branch
        ]
        return tuple(sorted(found, key=lambda pull: pull.number, reverse=True))

    async def open_pulls(self, repository: Repository) -> tuple[PullRequest, ...]:
        """Return the open pull requests that go to the repository's base branch."""
        asked = {"state": "open", "base_branch": repository.branch}
        found = await self._listed(repository, asked, MOST_OPEN)
        return tuple(one.pull() for one in found if one.base.ref == repository.branch)

    async def touched(self, repository: Repository, number: int) -> tuple[str, ...]:
        """Return the paths that a pull request touches, both of a file that moved."""
        path = repo(repository, "pulls", number, "files")
        changes: list[ChangedFile] = []
        for page in range(1, MOST_FILES // PAGE + 1):
            asked: dict[str, str | int] = {"limit": PAGE, "page": page}
            found = await self._client.get(list[ChangedFile], repository.name, path, asked)
            changes += found
            if not found:
                break
        paths = [path for one in changes for path in (one.previous_filename, one.filename) if path]
        return tuple(dict.fromkeys(paths))[:MOST_FILES]

    async def proposed(self, repository: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as a pull request proposes it; None if it has no such file."""
        at_path = repo(repository, "contents", *path.split("/"))
        return await content(self._client, repository.name, at_path, pull.commit)

    async def comments(
        self, repository: Repository, number: int, since: datetime
    ) -> tuple[Comment, ...]:
        """Return the comments that were written since then; Gitea's own `since` counts edits."""
        path = repo(repository, "issues", number, "comments")
        asked = {"since": since.isoformat(timespec="seconds")}
        found = await self._client.get(list[Said], repository.name, path, asked)
        said = [one.comment() for one in found if one.created_at >= since]
        return tuple(sorted(said, key=lambda comment: comment.at))

    async def pull(self, repository: Repository, number: int) -> PullRequest:
        """Return one pull request; PermanentError if its branch is of a fork."""
        path = repo(repository, "pulls", number)
        shown = await self._client.get(Pull, repository.name, path)
        if not shown.is_own:
            raise PermanentError(f"{shown.html_url} comes from a fork; those are left alone")
        return shown.pull()

    async def _listed(self, repository: Repository, asked: dict[str, str], most: int) -> list[Pull]:
        """A page may be shorter than was asked for, as the host's settings say: only none ends."""
        path = repo(repository, "pulls")
        listed: list[Pull] = []
        for page in range(1, MOST_PAGES + 1):
            paged: dict[str, str | int] = {**asked, "limit": PAGE, "page": page}
            found = await self._client.get(list[Pull], repository.name, path, paged)
            listed += found
            if not found or len(listed) >= most:
                break
        return listed[:most]
