"""What a fake host keeps besides git: its people, its pull requests and what is said on them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from tocsin_testing.forges.bare import Entry
from tocsin_testing.forges.loose import Loose
from tocsin_testing.forges.web import RefusedError

OPENED = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a token; without `writes` the token only reads."""

    id: int
    login: str
    writes: bool = True


BOT, ANN, READER = Person(7, "tocsin-bot"), Person(8, "ann"), Person(9, "reader", writes=False)
TOKENS = {"bot-token": BOT, "ann-token": ANN, "reader-token": READER}


class State(StrEnum):
    """What became of a pull request."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


@dataclass(slots=True)
class Pull:
    """One pull request; `last` is the newest commit its branch is known to have had."""

    number: int
    title: str
    body: str
    head: str
    base: str
    author: Person
    opened: datetime
    last: str
    state: State = State.OPEN
    ended: datetime | None = None
    ended_by: Person | None = None
    merged_commit: str = ""
    of_fork: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """One comment; a `system` one is written by the host."""

    id: int
    pull: int
    author: Person
    body: str
    at: datetime
    system: bool = False


@dataclass
class Hosting:
    """One repository of a host. `lag` is how many lists of pull requests come back empty."""

    name: str
    bare: Loose
    now: Callable[[], datetime] = lambda: OPENED
    pulls: list[Pull] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    lag: int = 0

    def who(self, token: str) -> Person:
        """Return whose token it is."""
        if token not in TOKENS:
            raise RefusedError(401, "401 Unauthorized")
        return TOKENS[token]

    def writer(self, token: str) -> Person:
        """Return whose token it is, if it may write."""
        person = self.who(token)
        if not person.writes:
            raise RefusedError(403, "403 Forbidden")
        return person

    def open(self, title: str, body: str, head: str, base: str, author: Person) -> Pull:
        """Open a pull request."""
        commit = self.bare.head(head) or ""
        number = len(self.pulls) + 1
        self.pulls.append(Pull(number, title, body, head, base, author, self.now(), commit))
        return self.pulls[-1]

    def twin(self, head: str, base: str) -> Pull | None:
        """Return the open pull request of the same branches, if there is one."""
        same = (p for p in self.pulls if (p.head, p.base, p.of_fork) == (head, base, False))
        return next((pull for pull in same if pull.state is State.OPEN), None)

    def listed(self) -> list[Pull]:
        """Return all pull requests, the newest first, unless lists lag behind."""
        if self.lag:
            self.lag -= 1
            return []
        return self.pulls[::-1]

    def pull(self, number: int) -> Pull:
        """Return one pull request."""
        if not 0 < number <= len(self.pulls):
            raise RefusedError(404, "404 Not found")
        return self.pulls[number - 1]

    def commit(self, pull: Pull) -> str:
        """Return where its branch is, or was when it was deleted."""
        there = None if pull.of_fork or pull.state is State.MERGED else self.bare.head(pull.head)
        pull.last = there or pull.last
        return pull.last

    def close(self, number: int, by: Person, *, and_drop: bool = False) -> None:
        """Close a pull request unmerged, as a person does."""
        pull = self.pull(number)
        self.commit(pull)
        pull.state, pull.ended, pull.ended_by = State.CLOSED, self.now(), by
        if and_drop:
            self.bare.drop(pull.head)

    def merge(self, number: int, by: Person) -> str:
        """Merge a pull request; return the commit on the base branch."""
        pull, bare = self.pull(number), self.bare
        base, head = bare.head(pull.base) or "", self.commit(pull)
        changes = [bare.entry(head, path) for path in bare.changed(self.began(head, base), head)]
        tree = bare.tree(base, [change for change in changes if change])
        merged = bare.commit_tree(tree, [base, head], f"Merge {pull.head}\n")
        bare.move(pull.base, merged, base)
        pull.state, pull.ended, pull.ended_by = State.MERGED, self.now(), by
        pull.merged_commit = merged
        return merged

    def say(self, number: int, author: Person, body: str, *, system: bool = False) -> Said:
        """Write a comment."""
        self.pull(number)
        self.said.append(Said(len(self.said) + 101, number, author, body, self.now(), system))
        return self.said[-1]

    def said_on(self, number: int) -> list[Said]:
        """Return the comments on a pull request, the oldest first."""
        self.pull(number)
        return [one for one in self.said if one.pull == number]

    def touched(self, pull: Pull) -> dict[str, str]:
        """Return the paths that differ from where the branch began, each with how."""
        head = self.commit(pull)
        base = self.bare.head(pull.base) or ""
        if pull.merged_commit:
            base = self.bare.stored(pull.merged_commit).parents[0]
        return self.bare.changed(self.began(head, base), head)

    def began(self, head: str, base: str) -> str:
        """Return the newest commit that a branch and its base have in common."""
        while not self.bare.leads_to(head, base):
            head = self.bare.stored(head).parents[0]
        return head

    def revision(self, ref: str) -> str:
        """Return the commit that a branch or an id means."""
        found = self.bare.head(ref) or ref
        if not self.bare.has(found):
            raise RefusedError(404, "404 invalid revision or path Not Found")
        return found

    def folder(self, revision: str, path: str) -> list[Entry]:
        """Return what a folder of a commit itself holds, by whole paths; nothing if it is none."""
        tree = self.bare.stored(revision).tree
        for name in filter(None, path.split("/")):
            found = {entry.path: entry for entry in self.bare.folder(tree)}
            if name not in found or found[name].type != "tree":
                return []
            tree = found[name].oid
        return [
            replace(entry, path=f"{path}/{entry.path}".lstrip("/"))
            for entry in self.bare.folder(tree)
        ]

    def last_change(self, revision: str, path: str) -> str:
        """Return the newest commit, from a revision backwards, that changed a file."""
        there = self.bare.entry(revision, path)
        while True:
            parents = self.bare.stored(revision).parents
            if not parents or self.bare.entry(parents[0], path) != there:
                return revision
            revision = parents[0]
