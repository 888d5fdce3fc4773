"""Look closer at a repository: where a text stands, who wrote a line, and what differs."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from tocsin_gitops import objects
from tocsin_gitops.config import Repository
from tocsin_gitops.git import Git
from tocsin_gitops.objects import Commit
from tocsin_gitops.refs import checked
from tocsin_gitops.source import MAX_BYTES
from tocsin_kit.errors import PermanentError

MOST_HOLDERS = 50
_NOTHING_FOUND = 1


class Commits(Protocol):
    """What makes a commit readable on this machine, if a branch that is read leads to it."""

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        """Return the newest commits up to `sha`; PermanentError for one that is not known."""


@dataclass(frozen=True, slots=True)
class Holders:
    """The files that hold a text, by path, and how many more of them were not read."""

    files: dict[str, bytes]
    left_out: int


@dataclass(frozen=True, slots=True)
class Written:
    """One line of a file, and the commit that wrote it; the text in it is untrusted."""

    number: int
    text: str
    commit: str
    author: str
    at: datetime
    subject: str


@dataclass(frozen=True, slots=True)
class Differing:
    """A file that two commits hold differently; None for lines of a file that is no text."""

    path: str
    added: int | None
    removed: int | None


class Inspector:
    """Asks git about commits; a text is compared as it is, never as a pattern."""

    def __init__(self, commits: Commits) -> None:
        self._commits = commits

    async def holding(self, repo: Repository, sha: str, text: str, below: str = "") -> Holders:
        """Return the first files that hold a text, in any case of its letters; large ones not."""
        if not text.strip() or "\n" in text:
            raise PermanentError(f"{text!r} is nothing to look for; give words of one line")
        git = await self._at(repo, sha)
        options = ("-l", "-z", "-I", "-i", "-F", "--full-name")
        where = ("--", below) if below else ("--",)
        ends = (0, _NOTHING_FOUND)
        listed = await git.run("grep", *options, "-e", text, checked(sha), *where, ends=ends)
        names = [_name(one) for one in listed.split(b"\0")[:-1]]
        files = await _small(git, sha, names[:MOST_HOLDERS])
        return Holders(files, len(names) - len(files))

    async def written(
        self, repo: Repository, sha: str, path: str, first: int, last: int
    ) -> tuple[Written, ...]:
        """Return who wrote these lines of a file, as it is at a commit."""
        git = await self._at(repo, sha)
        span = f"-L{first},{last}"
        told = await git.run("blame", "--line-porcelain", span, checked(sha), "--", path)
        return _lines(told.decode(errors="replace"))

    async def differing(
        self, repo: Repository, base: str, head: str, below: str = ""
    ) -> tuple[Differing, ...]:
        """Return the files that differ between two commits, by path; a new name is a new file."""
        git = await self._between(repo, base, head)
        options = ("-r", "-z", "--numstat", "--no-renames", "--no-textconv")
        where = ("--", below) if below else ("--",)
        told = await git.run("diff-tree", *options, checked(base), checked(head), *where)
        return tuple(_differing(one) for one in told.decode(errors="replace").split("\0")[:-1])

    async def patch(self, repo: Repository, base: str, head: str, path: str) -> str:
        """Return what differs in one file, as a patch without its head."""
        git = await self._between(repo, base, head)
        options = ("-p", "-r", "--no-renames", "--no-ext-diff", "--no-textconv")
        told = await git.run("diff-tree", *options, checked(base), checked(head), "--", path)
        _, begins, hunks = told.decode(errors="replace").partition("\n@@ ")
        return f"@@ {hunks}" if begins else ""

    async def _between(self, repo: Repository, base: str, head: str) -> Git:
        await self._at(repo, base)
        return await self._at(repo, head)

    async def _at(self, repo: Repository, sha: str) -> Git:
        await self._commits.commits(repo, sha, limit=1)
        return Git(repo.git_dir)


def _name(listed: bytes) -> str:
    """Read `commit:path`; what is no UTF-8 names no file that is read."""
    return listed.partition(b":")[2].decode(errors="replace")


async def _small(git: Git, sha: str, names: list[str]) -> dict[str, bytes]:
    if not names:
        return {}
    listing = await git.run("ls-tree", "-l", "-z", checked(sha), "--", *names)
    entries = [entry for entry in objects.tree(listing) if entry.size <= MAX_BYTES]
    asked = "".join(f"{entry.oid}\n" for entry in entries).encode()
    found = objects.blobs(await git.run("cat-file", "--batch", stdin=asked), len(entries))
    pairs = zip(entries, found, strict=True)
    return {entry.path: data for entry, data in pairs if data is not None}


def _differing(told: str) -> Differing:
    added, removed, path = told.split("\t", 2)
    return Differing(path, _count(added), _count(removed))


def _count(told: str) -> int | None:
    return int(told) if told.isdigit() else None


def _lines(told: str) -> tuple[Written, ...]:
    """Read `blame --line-porcelain`: a head of fields, then the line itself after a tab."""
    found: list[Written] = []
    fields: dict[str, str] = {}
    for row in told.split("\n"):
        key, _, value = row.partition(" ")
        if row.startswith("\t"):
            found.append(_written(fields, row[1:]))
            fields = {}
        elif not fields:
            fields = {"commit": key, "number": value.split(" ")[1]} if value else {}
        else:
            fields[key] = value
    return tuple(found)


def _written(fields: dict[str, str], text: str) -> Written:
    return Written(
        number=int(fields["number"]),
        text=text,
        commit=fields["commit"],
        author=fields["author"],
        at=datetime.fromtimestamp(int(fields["author-time"]), UTC),
        subject=fields["summary"],
    )
