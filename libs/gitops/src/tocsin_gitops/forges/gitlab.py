"""Write to GitLab: commits of many files at once, merge requests and notes."""

import base64
import re
from collections.abc import Mapping

from pydantic import BaseModel

from tocsin_gitops.config import Repository
from tocsin_gitops.forges import commits
from tocsin_gitops.forges.commits import Kept, Seen
from tocsin_gitops.forges.port import PullRequestRequest
from tocsin_gitops.forges.remote import RemoteForge
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.failures import NotFoundError
from tocsin_gitops.hosts.gitlab import (
    PAGE,
    Change,
    GitLabPulls,
    MergeRequest,
    Note,
    merge_request,
    project,
)
from tocsin_gitops.pulls import Comment, PullRequest

MOST_PAGES = 20
_PLAIN_MODES = ("100644", "100755")
_COMMAND = re.compile(r"^(\s*)/(?=[a-z])", re.MULTILINE | re.IGNORECASE)


class _Commit(BaseModel):
    id: str
    parent_ids: tuple[str, ...] = ()
    message: str = ""


class _Branch(BaseModel):
    commit: _Commit


class _Entry(BaseModel):
    id: str
    path: str
    mode: str


class GitLabForge(RemoteForge):
    """A Forge on GitLab's API, with a client that writes; the token needs the scope `api`."""

    def __init__(self, client: ForgeClient) -> None:
        super().__init__(_GitLabSteps(client), client.clock)


class _GitLabSteps:
    """GitLab answers most refusals of a commit with 400 and its reason."""

    def __init__(self, client: ForgeClient) -> None:
        self._client = client
        self.reader = GitLabPulls(client)

    async def branch(self, repository: Repository, name: str) -> str | None:
        path = project(repository, "repository", "branches", name)
        try:
            return (await self._client.get(_Branch, repository.name, path)).commit.id
        except NotFoundError:
            return None

    async def seen(self, repository: Repository, sha: str) -> Seen:
        """Of more than a page of changes the rest is not read: it cannot be ours anyway."""
        path = project(repository, "repository", "commits", sha)
        commit = await self._client.get(_Commit, repository.name, path)
        asked = {"per_page": PAGE}
        changes = await self._client.get(list[Change], repository.name, f"{path}/diff", asked)
        paths = frozenset(path for one in changes for path in (one.old_path, one.new_path))
        return Seen(commit.id, commit.parent_ids, commit.message, paths)

    async def kept(self, repository: Repository, sha: str, path: str) -> Kept | None:
        """Its folder is listed, for nothing else tells a link from a file."""
        folder = path.rpartition("/")[0]
        asked: dict[str, str | int] = {"ref": sha, "path": folder, "per_page": PAGE}
        listed = project(repository, "repository", "tree")
        for page in range(1, MOST_PAGES + 1):
            try:
                found = await self._client.get(
                    list[_Entry], repository.name, listed, asked | {"page": page}
                )
            except NotFoundError:
                return None
            entry = next((one for one in found if one.path == path), None)
            if entry:
                return Kept(entry.id, entry.mode in _PLAIN_MODES)
            if len(found) < PAGE:
                break
        return None

    async def commit(
        self, request: PullRequestRequest, before: Mapping[str, Kept | None], *, is_new: bool
    ) -> None:
        """`start_sha` makes the branch; without it each file has to be as it was in the parent."""
        commits.refuse_other_branches(request)
        guard = {} if is_new else {"last_commit_id": request.parent_sha}
        body = {
            "branch": request.head_branch,
            "commit_message": commits.message(request),
            "author_name": commits.AUTHOR,
            "author_email": commits.EMAIL,
            "actions": [
                {
                    "file_path": path,
                    "content": base64.b64encode(request.files[path]).decode(),
                    "encoding": "base64",
                    **({"action": "update", **guard} if kept else {"action": "create"}),
                }
                for path, kept in before.items()
            ],
            **({"start_sha": request.parent_sha} if is_new else {}),
        }
        path = project(request.repository, "repository", "commits")
        await self._client.send(_Commit, "POST", request.repository.name, path, body)

    async def open(self, request: PullRequestRequest) -> PullRequest:
        body = {
            **_shown(request),
            "source_branch": request.head_branch,
            "target_branch": request.base_branch,
        }
        name, path = request.repository.name, merge_request(request.repository)
        return (await self._client.send(MergeRequest, "POST", name, path, body)).pull()

    async def pull(self, repository: Repository, number: int) -> PullRequest:
        return await self.reader.pull(repository, number)

    async def edit(self, request: PullRequestRequest, number: int) -> PullRequest:
        name, path = request.repository.name, merge_request(request.repository, number)
        edited = await self._client.send(MergeRequest, "PUT", name, path, _shown(request))
        return edited.pull()

    async def myself(self, repository: Repository) -> str:
        return await self._client.me(repository.name)

    async def write(self, repository: Repository, number: int, body: str) -> Comment:
        pull = await self.reader.pull(repository, number)
        path = merge_request(repository, number, "notes")
        content = {"body": _inert(body)}
        note = await self._client.send(Note, "POST", repository.name, path, content)
        return note.comment(pull.url)


def _shown(request: PullRequestRequest) -> dict[str, str]:
    return {"title": request.title, "description": _inert(request.body)}


def _inert(text: str) -> str:
    """Keep GitLab, which looks past a carriage return, from doing what a line says: /merge."""
    return _COMMAND.sub(r"\1\\/", text.replace("\r", ""))
