"""Commits and branches through GitHub's git data API, so that equal requests make equal commits."""

import base64
from pathlib import PurePosixPath

from pydantic import BaseModel

from tocsin_gitops.config import Repository
from tocsin_gitops.forges import commits
from tocsin_gitops.forges.commits import Kept
from tocsin_gitops.forges.port import BranchTaken, PullRequestRequest
from tocsin_gitops.forges.remote import NO_COMMIT
from tocsin_gitops.hosts.client import at
from tocsin_gitops.hosts.failures import ConflictError, NotFoundError
from tocsin_gitops.hosts.github_api import GitHubApi
from tocsin_kit.errors import PermanentError, TransientError

_NEW_FILE = "100644"
_PLAIN_FILES = (_NEW_FILE, "100755")
_FOLDER = "040000"
_AUTHOR = {"name": commits.AUTHOR, "email": commits.EMAIL}


class _Object(BaseModel):
    sha: str


class _Date(BaseModel):
    date: str


class _Commit(BaseModel):
    tree: _Object
    committer: _Date


class _Entry(BaseModel):
    path: str
    mode: str
    sha: str


class _Tree(BaseModel):
    tree: list[_Entry]
    truncated: bool


class _Ref(BaseModel):
    object: _Object


class GitData:
    """Makes commits, and moves the branches that begin with `tocsin/`, never by force."""

    def __init__(self, api: GitHubApi) -> None:
        self._api = api

    async def commit(self, request: PullRequestRequest) -> str:
        """Store the commit of a request, on no branch yet, and return its id.

        Dated like its parent, so that the same request gives the same commit at any time.
        """
        repository = request.repository
        path = at("git", "commits", request.parent_sha)
        parent = await self._api.get(_Commit, repository, path)
        made = {
            "message": commits.message(request),
            "tree": await self._tree(request, parent.tree.sha),
            "parents": [request.parent_sha],
            "author": {**_AUTHOR, "date": parent.committer.date},
            "committer": {**_AUTHOR, "date": parent.committer.date},
        }
        return (await self._api.send(_Object, "POST", repository, "/git/commits", made)).sha

    async def head(self, repository: Repository, branch: str) -> str | None:
        """Return where a branch is, or None if it is not there."""
        path = at("git", "ref", "heads", *branch.split("/"))
        try:
            return (await self._api.get(_Ref, repository, path)).object.sha
        except NotFoundError:
            return None

    async def create(self, request: PullRequestRequest, commit: str) -> None:
        """Create the branch; one that is there must be at this very commit: else BranchTaken."""
        commits.refuse_other_branches(request)
        made = {"ref": f"refs/heads/{request.head_branch}", "sha": commit}
        try:
            await self._api.send(_Ref, "POST", request.repository, "/git/refs", made)
        except ConflictError as refused:
            if "already exists" not in refused.said.lower():
                raise
            there = await self.head(request.repository, request.head_branch)
            if there is None:
                raise TransientError(f"{refused}; but it cannot be read yet") from refused
            if there != commit:
                raise BranchTaken(request.head_branch, there) from refused

    async def advance(self, request: PullRequestRequest, commit: str) -> None:
        """Move the branch from the approved parent to its child; BranchTaken if it is elsewhere."""
        commits.refuse_other_branches(request)
        path = at("git", "refs", "heads", *request.head_branch.split("/"))
        to = {"sha": commit, "force": False}
        try:
            await self._api.send(_Ref, "PATCH", request.repository, path, to)
        except ConflictError as refused:
            there = await self.head(request.repository, request.head_branch) or NO_COMMIT
            if there == request.parent_sha:
                raise
            if there != commit:
                raise BranchTaken(request.head_branch, there) from refused

    async def _tree(self, request: PullRequestRequest, base: str) -> str:
        modes = _Modes(self._api, request.repository, base)
        entries = [
            {
                "path": path,
                "mode": await modes.of(path),
                "type": "blob",
                "sha": await self._blob(request.repository, path, data),
            }
            for path, data in sorted(request.files.items())
        ]
        made = {"base_tree": base, "tree": entries}
        return (await self._api.send(_Object, "POST", request.repository, "/git/trees", made)).sha

    async def _blob(self, repository: Repository, path: str, data: bytes) -> str:
        made = {"content": base64.b64encode(data).decode(), "encoding": "base64"}
        sha = (await self._api.send(_Object, "POST", repository, "/git/blobs", made)).sha
        if not Kept(sha, is_plain=True).holds(data):
            raise PermanentError(f"{path!r}: the forge stored other bytes than were approved")
        return sha


class _Modes:
    """Looks up the modes of files, and looks at each folder once."""

    def __init__(self, api: GitHubApi, repository: Repository, root: str) -> None:
        self._api = api
        self._repository = repository
        self._root = root
        self._folders: dict[str, dict[str, _Entry]] = {}

    async def of(self, path: str) -> str:
        """Return the mode to write a path with; PermanentError for what is no plain file."""
        folder = self._root
        *parents, name = PurePosixPath(path).parts
        for parent in parents:
            entry = (await self._entries(folder)).get(parent)
            if entry is None:
                return _NEW_FILE
            if entry.mode != _FOLDER:
                raise PermanentError(f"{path!r} leads through {parent!r}, which is no folder")
            folder = entry.sha
        entry = (await self._entries(folder)).get(name)
        mode = entry.mode if entry else _NEW_FILE
        if mode not in _PLAIN_FILES:
            raise PermanentError(f"{path!r} has the mode {mode}; only plain files are written")
        return mode

    async def _entries(self, folder: str) -> dict[str, _Entry]:
        if folder not in self._folders:
            path = at("git", "trees", folder)
            tree = await self._api.get(_Tree, self._repository, path)
            if tree.truncated:
                raise PermanentError(f"{self._repository.name!r}: a folder has too many files")
            self._folders[folder] = {entry.path: entry for entry in tree.tree}
        return self._folders[folder]
