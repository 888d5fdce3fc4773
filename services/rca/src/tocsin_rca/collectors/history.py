"""What recent commits changed about an object, read from the repositories of gitops.yaml."""

import asyncio
from typing import Any

from tocsin_contracts import ObjectRef
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.source import Commit, Source
from tocsin_rca.collectors.declarations import Written, chosen, written
from tocsin_rca.collectors.repository import Mentions, find_mentions
from tocsin_rca.ports import Declared, FieldHistory

KEPT_COMMITS = 6
"""Commits whose files stay in memory."""


class GitHistory:
    """Reads the history of every repository that serves the object's cluster and namespace."""

    source = "git"

    def __init__(self, source: Source, gitops: GitOps) -> None:
        self._source = source
        self._gitops = gitops
        self._contents: dict[tuple[str, str], dict[str, bytes]] = {}
        self._written: dict[tuple[str, str], tuple[Written, ...]] = {}

    async def recent_changes(
        self, target: ObjectRef, *, cluster: str, limit: int
    ) -> tuple[FieldHistory, ...]:
        """Return the newest commits that changed a field of the object; may raise TocsinError."""
        serving = self._gitops.serving(cluster, target.namespace)
        found = await asyncio.gather(*(self._of(repo, target, limit) for repo in serving))
        changes = [change for changes in found for change in changes]
        return tuple(sorted(changes, key=lambda change: change.at, reverse=True)[:limit])

    async def declared(
        self, namespace: str, names: tuple[str, ...], *, cluster: str, limit: int
    ) -> tuple[Declared, ...]:
        """Return what files declare in a namespace; may raise TocsinError."""
        found: list[Declared] = []
        for repo in self._near(cluster, namespace):
            head = await self._source.head(repo)
            best = chosen(await self._read(repo, head), namespace, names, limit)
            found += [Declared(repo.name, head, file, manifest) for file, manifest in best]
        return tuple(found[:limit])

    def _near(self, cluster: str, namespace: str) -> tuple[Repository, ...]:
        """Without a namespace, as for a node, every repository of the cluster is near."""
        if namespace:
            return self._gitops.serving(cluster, namespace)
        every = self._gitops.repositories
        return tuple(r for r in every if r.serves(cluster, next(iter(r.namespaces), "")))

    async def _read(self, repo: Repository, head: str) -> tuple[Written, ...]:
        key = (repo.name, head)
        if key not in self._written:
            contents = await self._files(repo, head)
            self._written[key] = await asyncio.to_thread(written, contents)
            _forget_the_first(self._written)
        return self._written[key]

    async def _files(self, repo: Repository, head: str) -> dict[str, bytes]:
        key = (repo.name, head)
        if key not in self._contents:
            files = await self._source.files(repo, head)
            self._contents[key] = {path: file.data for path, file in files.items()}
            _forget_the_first(self._contents)
        return self._contents[key]

    async def _of(self, repo: Repository, target: ObjectRef, limit: int) -> list[FieldHistory]:
        head = await self._source.head(repo)
        mentions = find_mentions(await self._files(repo, head), target)
        steps = [
            (file, commit)
            for file in mentions.files
            for commit in await self._source.commits(repo, head, file, limit)
        ]
        changes = [await self._step(repo, mentions, file, commit) for file, commit in steps]
        return [change for change in changes if change.fields]

    async def _step(
        self, repo: Repository, mentions: Mentions, file: str, commit: Commit
    ) -> FieldHistory:
        before = await self._source.show(repo, commit.parent, file) if commit.parent else None
        after = await self._source.show(repo, commit.sha, file)
        fields = mentions.changes(file, before, after)
        return FieldHistory(
            commit=commit.sha,
            author=commit.author,
            at=commit.at,
            subject=commit.subject,
            file=file,
            fields=fields,
        )


def _forget_the_first(kept: dict[Any, Any]) -> None:
    while len(kept) > KEPT_COMMITS:
        del kept[next(iter(kept))]
