"""Closer looks at the repositories: where a text stands, who wrote a line, what was proposed."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from pydantic import Field

from tocsin_agents.tools.signatures import Function
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.inspecting import Differing, Inspector, Written
from tocsin_gitops.source import Source
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import clean, line
from tocsin_rca.backends.answers import Brief, Told, counted
from tocsin_rca.tools import arguments
from tocsin_rca.tools.secrets import holds_secret

MOST_LINES = 60
MOST_FILES = 100
MOST_PATCHES = 10
MOST_PULLS = 20
MOST_BLAMED = 50
LONGEST_LINE = 200
LONGEST_PATCH = 6000

Words = Annotated[
    str,
    Field(min_length=2, max_length=200, description="The text; its case does not matter."),
]
Path = Annotated[str, Field(min_length=1, description="The file, from the root of the repository.")]
Below = Annotated[str, Field(description="Only this file or folder; empty for all.")]
At = Annotated[str, Field(description="All hex digits of a commit; empty for the newest one.")]
Base = Annotated[str, Field(description="The earlier commit, all of its hex digits.")]
First = Annotated[int, Field(ge=1, description="The number of the first line.")]
Lines = Annotated[int, Field(ge=1, le=MOST_BLAMED, description="How many lines.")]


class KnownRepository(Brief):
    """A repository that may be asked about, and what it describes; empty is everything."""

    name: str
    branch: str
    cluster: str
    namespaces: tuple[str, ...]


class Place(Brief):
    """A line that holds a text."""

    file: str
    line: int
    text: str


class Found(Told):
    """Where a text stands; `left_out` counts lines and files that are not shown."""

    commit: str
    places: tuple[Place, ...]


class Blamed(Brief):
    """A line of a file, and the commit that wrote it."""

    line: int
    text: str
    commit: str
    author: str
    at: datetime
    subject: str


class Change(Brief):
    """A file that differs; without a patch where it is long, no text, or holds a Secret."""

    file: str
    added: int | None
    removed: int | None
    patch: str = ""


class Compared(Told):
    """What differs between two commits."""

    base: str
    head: str
    changes: tuple[Change, ...]


class OpenPull(Brief):
    """A pull request that waits."""

    number: int
    title: str
    branch: str
    opened_at: datetime
    url: str
    files: tuple[str, ...]


class CodeTools:
    """One method a tool of the server `git`; no line of a file that holds a Secret is shown."""

    def __init__(self, source: Source, gitops: GitOps) -> None:
        self._source = source
        self._inspector = Inspector(source)
        self._gitops = gitops

    def methods(self) -> tuple[Function, ...]:
        """Return the functions that become tools."""
        return self.repositories, self.search, self.blame, self.compare, self.pulls

    async def repositories(self) -> tuple[KnownRepository, ...]:
        """List the repositories that may be asked about, and what each describes."""
        return tuple(
            KnownRepository(
                name=one.name, branch=one.branch, cluster=one.cluster, namespaces=one.namespaces
            )
            for one in self._gitops.repositories
        )

    async def search(
        self, repository: arguments.Repository, text: Words, path: Below = "", commit: At = ""
    ) -> Found:
        """Find the lines of a repository that hold a text, as it is and never as a pattern."""
        repo, sha = await self._at(repository, commit)
        holders = await self._inspector.holding(repo, sha, text, path)
        shown = {p: data for p, data in holders.files.items() if not holds_secret(data)}
        found = [place for p, data in shown.items() for place in _places(p, data, text)]
        left_out = holders.left_out + len(holders.files) - len(shown) + len(found[MOST_LINES:])
        return Found(
            said=f"{line(text)!r} stands in {counted(len(found), 'line')} of "
            f"{counted(len(shown), 'file')}.",
            commit=sha,
            places=tuple(found[:MOST_LINES]),
            left_out=left_out or None,
        )

    async def blame(
        self,
        repository: arguments.Repository,
        path: Path,
        first: First,
        lines: Lines = 1,
        commit: At = "",
    ) -> tuple[Blamed, ...]:
        """Show who wrote some lines of a file: for each the commit, its author and its subject."""
        repo, sha = await self._at(repository, commit)
        data = await self._source.show(repo, sha, path)
        if data is None:
            raise PermanentError(f"{repository!r} has no file {line(path)!r} at {sha[:10]}")
        if holds_secret(data):
            raise PermanentError(f"{line(path)!r} holds a Secret, which is never shown")
        held = len(data.splitlines())
        if first > held:
            raise PermanentError(f"{line(path)!r} has {held} lines at {sha[:10]}, not {first}")
        last = min(first + lines - 1, held)
        found = await self._inspector.written(repo, sha, path, first, last)
        return tuple(map(_blamed, found))

    async def compare(
        self, repository: arguments.Repository, base: Base, head: At = "", path: Below = ""
    ) -> Compared:
        """Show what differs between two commits: the files, and patches of the shorter ones."""
        repo, sha = await self._at(repository, head)
        found = await self._inspector.differing(repo, base, sha, path)
        shown = [
            Change(
                file=one.path,
                added=one.added,
                removed=one.removed,
                patch=await self._patch(repo, base, sha, one) if place < MOST_PATCHES else "",
            )
            for place, one in enumerate(found[:MOST_FILES])
        ]
        return Compared(
            said=f"{counted(len(found), 'file differs', 'files differ')} between {base[:10]} and "
            f"{sha[:10]}.",
            base=base,
            head=sha,
            changes=tuple(shown),
            left_out=len(found) - len(shown) or None,
        )

    async def pulls(self, repository: arguments.Repository) -> tuple[OpenPull, ...]:
        """List the open pull requests of a repository, with the files that each touches."""
        repo = self._gitops.repository(repository)
        found = (await self._source.open_pulls(repo))[:MOST_PULLS]
        return tuple(
            [
                OpenPull(
                    number=one.number,
                    title=line(one.title),
                    branch=line(one.head_branch),
                    opened_at=one.opened_at,
                    url=one.url,
                    files=(await self._source.touched(repo, one.number))[:MOST_FILES],
                )
                for one in found
            ]
        )

    async def _at(self, repository: str, commit: str) -> tuple[Repository, str]:
        repo = self._gitops.repository(repository)
        return repo, commit or await self._source.head(repo)

    async def _patch(self, repo: Repository, base: str, head: str, one: Differing) -> str:
        if one.added is None or one.removed is None or one.added + one.removed > LONGEST_PATCH:
            return ""
        sides = [await self._source.show(repo, sha, one.path) for sha in (base, head)]
        if any(side is not None and holds_secret(side) for side in sides):
            return ""
        return clean(await self._inspector.patch(repo, base, head, one.path), LONGEST_PATCH).text


def _places(path: str, data: bytes, text: str) -> Iterator[Place]:
    wanted = text.casefold()
    for number, row in enumerate(data.decode(errors="replace").split("\n"), 1):
        if wanted in row.casefold():
            yield Place(file=path, line=number, text=_around(row, wanted))


def _around(row: str, wanted: str) -> str:
    """Return the part of a line that shows the text, for a line may be a whole program."""
    begin = max(0, row.casefold().find(wanted) - LONGEST_LINE // 2)
    return clean(row[begin : begin + LONGEST_LINE], LONGEST_LINE).text


def _blamed(one: Written) -> Blamed:
    return Blamed(
        line=one.number,
        text=clean(one.text, LONGEST_LINE).text,
        commit=one.commit,
        author=line(one.author),
        at=one.at,
        subject=line(one.subject),
    )
