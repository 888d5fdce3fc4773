"""A forge in trouble: it fails by chance, and keeps a log of everything that it was made to do."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from tocsin_testing.chaos.chance import Chance
from tocsin_testing.chaos.history import Committed, Pull
from tocsin_testing.forges.gitea import FakeGitea
from tocsin_testing.forges.hosting import State
from tocsin_testing.forges.web import Answer, Asked, RefusedError

OURS = "refs/heads/tocsin/"
TRAILER = re.compile(r"^Tocsin-Plan: ([0-9a-f]{64})$", re.MULTILINE)
REFUSALS = (
    Answer(500, {"message": "Oops"}),
    Answer(502, {"message": "Bad gateway"}),
    Answer(429, {"message": "Slow down"}, {"retry-after": "1"}),
)


@dataclass
class LoggedForge:
    """A fake forge; while `trouble` is above 0 so many of its answers are refusals or get lost."""

    fake: FakeGitea
    chance: Chance
    trouble: float = 0.0
    prefix: str = FakeGitea.prefix
    commits: list[Committed] = field(default_factory=list)
    _heads: dict[str, str] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def answer(self, asked: Asked) -> Answer:
        """Answer as the fake, or not; what it did is in the log in any case."""
        with self._lock:
            if self.chance.happens(self.trouble / 2):
                return self.chance.choice(REFUSALS)
            try:
                answer = self.fake.answer(asked)
            except RefusedError as refused:
                answer = refused.answer
            if asked.method != "GET":
                self._look()
            if self.chance.happens(self.trouble / 2):
                return Answer(502, {"message": "The answer was lost"})
            return answer

    @property
    def pulls(self) -> tuple[Pull, ...]:
        """Every pull request, as it is now."""
        return tuple(Pull(one.number, one.head, one.state is State.OPEN) for one in self.fake.pulls)

    def _look(self) -> None:
        listed = self.fake.bare.text("for-each-ref", "--format=%(objectname) %(refname)", OURS)
        for line in listed.splitlines():
            commit, ref = line.split(" ", 1)
            branch = ref.removeprefix("refs/heads/")
            old = self._heads.get(branch, "")
            if commit != old:
                self._heads[branch] = commit
                self._keep(branch, old, commit)

    def _keep(self, branch: str, old: str, commit: str) -> None:
        """Keep a commit; a branch that only marks a place of the base writes nothing."""
        git = self.fake.bare
        if commit in git.text("rev-list", "main").splitlines():
            return
        stored = git.stored(commit)
        named = TRAILER.search(stored.message)
        self.commits.append(
            Committed(
                at=datetime.now(UTC),
                branch=branch,
                old=old,
                commit=commit,
                parent=stored.parents[0] if stored.parents else "",
                plan_hash=named.group(1) if named else "",
            )
        )
