"""Read the merge requests of GitLab, which are our pull requests under another name."""

from datetime import datetime

from pydantic import AwareDatetime, BaseModel

from tocsin_gitops.config import Repository
from tocsin_gitops.hosts.client import ForgeClient, at
from tocsin_gitops.hosts.content import content
from tocsin_gitops.pulls import Comment, PullRequest, PullState
from tocsin_kit.errors import PermanentError

PAGE = 100
MOST_PAGES = 10
MOST_FILES = 300

_STATES = {"merged": PullState.MERGED, "closed": PullState.CLOSED}


class User(BaseModel):
    """Who did something."""

    id: int


class MergeRequest(BaseModel):
    """What is read of a merge request; `locked` is one that is being merged."""

    iid: int
    title: str
    description: str | None = None
    state: str
    created_at: AwareDatetime
    web_url: str
    source_branch: str
    target_branch: str
    source_project_id: int | None = None
    target_project_id: int
    sha: str | None = None
    merged_at: AwareDatetime | None = None
    closed_at: AwareDatetime | None = None
    merged_by: User | None = None
    merge_user: User | None = None
    closed_by: User | None = None
    merge_commit_sha: str | None = None
    squash_commit_sha: str | None = None

    @property
    def is_own(self) -> bool:
        """Whether its branch is one of the repository itself, not of a fork."""
        return self.source_project_id == self.target_project_id

    def pull(self) -> PullRequest:
        """Return it in our words."""
        state = _STATES.get(self.state, PullState.OPEN)
        merged = state is PullState.MERGED
        by = self.merge_user or self.merged_by if merged else self.closed_by
        kept = self.merge_commit_sha or self.squash_commit_sha or self.sha
        return PullRequest(
            number=self.iid,
            title=self.title,
            body=self.description or "",
            head_branch=self.source_branch,
            base_branch=self.target_branch,
            commit=self.sha or "",
            state=state,
            opened_at=self.created_at,
            url=self.web_url,
            ended_at=None if state is PullState.OPEN else self.merged_at or self.closed_at,
            ended_by=str(by.id) if by and state is not PullState.OPEN else "",
            merged_commit=(kept or "") if merged else "",
        )


class Note(BaseModel):
    """What is read of a note; GitLab writes the `system` ones itself."""

    id: int
    body: str
    author: User
    created_at: AwareDatetime
    system: bool = False

    def comment(self, pull_url: str = "") -> Comment:
        """Return it in our words."""
        url = f"{pull_url}#note_{self.id}" if pull_url else ""
        author = str(self.author.id)
        return Comment(id=str(self.id), author=author, body=self.body, at=self.created_at, url=url)


class Change(BaseModel):
    """One file of a diff."""

    old_path: str
    new_path: str


def project(repository: Repository, *segments: object) -> str:
    """Return a path of a project, which GitLab takes by its whole name."""
    return at("projects", repository.name, *segments)


def merge_request(repository: Repository, *segments: object) -> str:
    """Return a path of a merge request, or of all."""
    return project(repository, "merge_requests", *segments)


class GitLabPulls:
    """Reads merge requests with one client; a PullReader."""

    name = "gitlab"

    def __init__(self, client: ForgeClient) -> None:
        self._client = client

    async def pulls(self, repository: Repository, head_branch: str) -> tuple[PullRequest, ...]:
        """Return every merge request from a branch of the project itself, the newest first."""
        asked = {"source_branch": head_branch, "state": "all"}
        found = await self._listed(repository, asked, MOST_PAGES)
        return tuple(one.pull() for one in found if one.is_own)

    async def open_pulls(self, repository: Repository) -> tuple[PullRequest, ...]:
        """Return the open merge requests that go to the repository's base branch."""
        asked = {"target_branch": repository.branch, "state": "opened"}
        return tuple(one.pull() for one in await self._listed(repository, asked, 1))

    async def touched(self, repository: Repository, number: int) -> tuple[str, ...]:
        """Return the paths that a merge request touches, both of a file that moved."""
        changes: list[Change] = []
        path = merge_request(repository, number, "diffs")
        for page in range(1, MOST_FILES // PAGE + 1):
            asked = {"per_page": PAGE, "page": page}
            found = await self._client.get(list[Change], repository.name, path, asked)
            changes += found
            if len(found) < PAGE:
                break
        paths = [path for change in changes for path in (change.old_path, change.new_path)]
        return tuple(dict.fromkeys(paths))[:MOST_FILES]

    async def proposed(self, repository: Repository, pull: PullRequest, path: str) -> bytes | None:
        """Return a file as a pull request proposes it; None if it has no such file."""
        at_path = project(repository, "repository", "files", path)
        return await content(self._client, repository.name, at_path, pull.commit)

    async def comments(
        self, repository: Repository, number: int, since: datetime
    ) -> tuple[Comment, ...]:
        """Return what people and programs wrote since then, the oldest first."""
        notes: list[Note] = []
        path = merge_request(repository, number, "notes")
        for page in range(1, MOST_PAGES + 1):
            asked = {**_newest_first(page), "order_by": "created_at"}
            found = await self._client.get(list[Note], repository.name, path, asked)
            notes += (one for one in found if one.created_at >= since and not one.system)
            if len(found) < PAGE or found[-1].created_at < since:
                break
        shown = await self._shown(repository, number) if notes else None
        return tuple(one.comment(shown.web_url if shown else "") for one in reversed(notes))

    async def pull(self, repository: Repository, number: int) -> PullRequest:
        """Return one merge request; PermanentError if its branch is of a fork."""
        shown = await self._shown(repository, number)
        if not shown.is_own:
            raise PermanentError(f"{shown.web_url} comes from a fork; those are left alone")
        return shown.pull()

    async def _shown(self, repository: Repository, number: int) -> MergeRequest:
        path = merge_request(repository, number)
        return await self._client.get(MergeRequest, repository.name, path)

    async def _listed(
        self, repository: Repository, asked: dict[str, str], pages: int
    ) -> list[MergeRequest]:
        """Anybody can fork, and name a branch like one of ours: theirs may fill some pages."""
        listed: list[MergeRequest] = []
        path = merge_request(repository)
        for page in range(1, pages + 1):
            paged = {**asked, **_newest_first(page)}
            found = await self._client.get(list[MergeRequest], repository.name, path, paged)
            listed += found
            if len(found) < PAGE:
                break
        return listed


def _newest_first(page: int) -> dict[str, str | int]:
    return {"order_by": "created_at", "sort": "desc", "per_page": PAGE, "page": page}
