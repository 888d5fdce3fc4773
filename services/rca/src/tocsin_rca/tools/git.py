"""Questions about the repositories that describe the clusters: who changed what, and one file."""

from typing import Annotated, Any

from pydantic import Field

from tocsin_agents.tools.functions import FunctionTool
from tocsin_agents.tools.port import Capability
from tocsin_agents.tools.signatures import Function
from tocsin_agents.tools.toolsets import OwnTools
from tocsin_contracts import ObjectRef
from tocsin_gitops.config import GitOps
from tocsin_gitops.source import Source
from tocsin_gitops.yaml_paths import path_text
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import clean, line
from tocsin_rca.ports import ChangedField, FieldHistory, History
from tocsin_rca.tools.arguments import Kind, Name, Namespace, Repository, readable
from tocsin_rca.tools.code import CodeTools
from tocsin_rca.tools.secrets import holds_secret

SERVER = "git"
MOST_COMMITS = 50
MOST_FILES = 50
LONGEST_FILE = 64_000

Limit = Annotated[int, Field(ge=1, le=MOST_COMMITS, description="How many at most.")]
Path = Annotated[str, Field(description="The file, from the root of the repository.")]
Below = Annotated[
    str, Field(description="Only commits that touched this file or folder; empty for all.")
]
CommitId = Annotated[
    str, Field(description="All hex digits of a commit; empty for the newest one.")
]

_MAY_HOLD_SECRETS = frozenset({"env", "args", "command", "annotations", "httpHeaders", "data"})


class GitTools:
    """One method a tool. Only repositories of gitops.yaml are read, and no Secret in them."""

    def __init__(self, history: History, source: Source, gitops: GitOps) -> None:
        self._history = history
        self._source = source
        self._gitops = gitops

    def toolset(self) -> OwnTools:
        """Return the tools of the server `git`."""
        closer = CodeTools(self._source, self._gitops).methods()
        methods: tuple[Function, ...] = (self.changes, self.commits, self.read_file, *closer)
        return OwnTools(
            SERVER,
            (FunctionTool(method, server=SERVER, capability=Capability.READ) for method in methods),
        )

    async def changes(
        self,
        kind: Kind,
        name: Name,
        namespace: Namespace = "",
        cluster: Annotated[str, Field(description="Its cluster, if that is known.")] = "",
        *,
        limit: Limit = 10,
    ) -> list[dict[str, Any]]:
        """Show what the last commits changed about one object, field by field, newest first."""
        target = ObjectRef(kind=readable(kind), namespace=namespace, name=name)
        found = await self._history.recent_changes(target, cluster=cluster, limit=limit)
        return [_change(change) for change in found]

    async def commits(
        self, repository: Repository, path: Below = "", limit: Limit = 20
    ) -> list[dict[str, Any]]:
        """List the last commits of a repository, the newest first."""
        repo = self._gitops.repository(repository)
        head = await self._source.head(repo)
        return [
            {
                "commit": commit.sha,
                "at": commit.at,
                "author": line(commit.author),
                "subject": line(commit.subject),
                "files": commit.files[:MOST_FILES],
            }
            for commit in await self._source.commits(repo, head, path, limit)
        ]

    async def read_file(
        self, repository: Repository, path: Path, commit: CommitId = ""
    ) -> dict[str, Any]:
        """Show one file of a repository as it is now, or as it was at a commit."""
        repo = self._gitops.repository(repository)
        sha = commit or await self._source.head(repo)
        data = await self._source.show(repo, sha, path)
        if data is None:
            raise PermanentError(f"{repository!r} has no file {line(path)!r} at {sha[:10]}")
        if holds_secret(data):
            raise PermanentError(f"{line(path)!r} holds a Secret, which is never shown")
        text = clean(data.decode(errors="replace"), LONGEST_FILE)
        return {"commit": sha, "text": text.text, "truncated": text.truncated}


def _change(change: FieldHistory) -> dict[str, Any]:
    return {
        "commit": change.commit,
        "at": change.at,
        "author": line(change.author),
        "subject": line(change.subject),
        "file": change.file,
        "fields": [_field(field) for field in change.fields],
    }


def _field(field: ChangedField) -> dict[str, Any]:
    shown = {"path": path_text(field.path)}
    if _MAY_HOLD_SECRETS.intersection(field.path):
        return shown
    return {**shown, "before": field.before, "after": field.after}
