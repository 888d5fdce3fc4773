"""Write to Gitea and Forgejo: branches, commits of many files at once, pull requests, comments."""

import base64
from collections.abc import Mapping
from typing import TypeVar

from pydantic import AwareDatetime, BaseModel, RootModel

from tocsin_gitops.config import Repository
from tocsin_gitops.forges import commits
from tocsin_gitops.forges.commits import Kept, Seen
from tocsin_gitops.forges.port import PullRequestRequest
from tocsin_gitops.forges.remote import RemoteForge
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.failures import NotFoundError
from tocsin_gitops.hosts.gitea import GiteaPulls, Pull, Said, repo
from tocsin_gitops.pulls import Comment, PullRequest

_CREATE = {"operation": "create"}

T = TypeVar("T")


class _Meta(BaseModel):
    sha: str


class _Changed(BaseModel):
    filename: str


class _Message(BaseModel):
    message: str = ""


class _Commit(BaseModel):
    sha: str
    commit: _Message
    parents: tuple[_Meta, ...]
    files: tuple[_Changed, ...]


class _Dated(BaseModel):
    created: AwareDatetime


class _Head(BaseModel):
    id: str


class _Branch(BaseModel):
    commit: _Head


class _Contents(BaseModel):
    type: str
    sha: str


class _Found(RootModel[_Contents | list[_Contents]]):
    """A file, or what is in a folder."""


class _Written(BaseModel):
    """The answer to a write that is looked at afterwards anyway."""


class GiteaForge(RemoteForge):
    """A Forge on Gitea's API, with a client that writes.

    The token needs to write the repository and its issues, and to read its user.
    """

    def __init__(self, client: ForgeClient) -> None:
        super().__init__(_GiteaSteps(client), client.clock)


class _GiteaSteps:
    """A branch is made at the approved parent first: a commit starts from branches only."""

    def __init__(self, client: ForgeClient) -> None:
        self._client = client
        self.reader = GiteaPulls(client)

    async def branch(self, repository: Repository, name: str) -> str | None:
        path = repo(repository, "branches", *name.split("/"))
        try:
            return (await self._client.get(_Branch, repository.name, path)).commit.id
        except NotFoundError:
            return None

    async def seen(self, repository: Repository, sha: str) -> Seen:
        commit = await self._shown(_Commit, repository, sha, files="true")
        parents = tuple(parent.sha for parent in commit.parents)
        changed = frozenset(one.filename for one in commit.files)
        return Seen(commit.sha, parents, commit.commit.message, changed)

    async def kept(self, repository: Repository, sha: str, path: str) -> Kept | None:
        contents = repo(repository, "contents", *path.split("/"))
        try:
            found = await self._client.get(_Found, repository.name, contents, {"ref": sha})
        except NotFoundError:
            return None
        if isinstance(found.root, list):
            return Kept("", is_plain=False)
        return Kept(found.root.sha, is_plain=found.root.type == "file")

    async def commit(
        self, request: PullRequestRequest, before: Mapping[str, Kept | None], *, is_new: bool
    ) -> None:
        """Each file has to be as it was in the parent; the dates are those of the parent too."""
        commits.refuse_other_branches(request)
        if is_new:
            await self._make_branch(request)
        parent = await self._shown(_Dated, request.repository, request.parent_sha, files="false")
        identity = {"name": commits.AUTHOR, "email": commits.EMAIL}
        date = parent.created.isoformat()
        body = {
            "branch": request.head_branch,
            "message": commits.message(request),
            "author": identity,
            "committer": identity,
            "dates": {"author": date, "committer": date},
            "files": [
                {
                    "path": path,
                    "content": base64.b64encode(request.files[path]).decode(),
                    **({"operation": "update", "sha": kept.oid} if kept else _CREATE),
                }
                for path, kept in before.items()
            ],
        }
        name, path = request.repository.name, repo(request.repository, "contents")
        await self._client.send(_Written, "POST", name, path, body)

    async def open(self, request: PullRequestRequest) -> PullRequest:
        body = {
            "head": request.head_branch,
            "base": request.base_branch,
            "title": request.title,
            "body": request.body,
        }
        name, path = request.repository.name, repo(request.repository, "pulls")
        return (await self._client.send(Pull, "POST", name, path, body)).pull()

    async def pull(self, repository: Repository, number: int) -> PullRequest:
        return await self.reader.pull(repository, number)

    async def edit(self, request: PullRequestRequest, number: int) -> PullRequest:
        name, path = request.repository.name, repo(request.repository, "pulls", number)
        body = {"title": request.title, "body": request.body}
        return (await self._client.send(Pull, "PATCH", name, path, body)).pull()

    async def myself(self, repository: Repository) -> str:
        return await self._client.me(repository.name)

    async def write(self, repository: Repository, number: int, body: str) -> Comment:
        await self.reader.pull(repository, number)
        path = repo(repository, "issues", number, "comments")
        said = await self._client.send(Said, "POST", repository.name, path, {"body": body})
        return said.comment()

    async def _make_branch(self, request: PullRequestRequest) -> None:
        body = {"new_branch_name": request.head_branch, "old_ref_name": request.parent_sha}
        name, path = request.repository.name, repo(request.repository, "branches")
        await self._client.send(_Branch, "POST", name, path, body)

    async def _shown(self, shape: type[T], repository: Repository, sha: str, *, files: str) -> T:
        path = repo(repository, "git", "commits", sha)
        asked = {"stat": "false", "verification": "false", "files": files}
        return await self._client.get(shape, repository.name, path, asked)
