"""Local copies of remote repositories: fetched by git, shared by every process of a machine.

Only the base branch and Tocsin's own branches are copied. That is all that is read; what other
people push to branches of theirs may be large and is none of our business.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from tocsin_gitops import fetching
from tocsin_gitops.config import Repository
from tocsin_gitops.fetching import Bounds, Origin
from tocsin_gitops.git import Git, GitFailed
from tocsin_gitops.locks import alone
from tocsin_gitops.refs import checked
from tocsin_kit.clock import Clock
from tocsin_kit.errors import PermanentError

MAX_AGE = timedelta(seconds=5)
_STAMP = "fetched-at"
_MOST_KNOWN = 10_000


class Mirrors:
    """Keeps copies up to date, at most one fetch of a repository at a time on this machine.

    TransientError: the host is away or slow. PermanentError names the host, the repository, the
    variable of the token and what a person has to do.
    """

    def __init__(
        self,
        origins: Mapping[str, Origin],
        clock: Clock,
        *,
        max_age: timedelta = MAX_AGE,
        bounds: Bounds | None = None,
    ) -> None:
        self._origins = origins
        self._clock = clock
        self._max_age = max_age
        self._bounds = bounds or Bounds()
        self._running: dict[Path, asyncio.Task[None]] = {}
        self._known: set[tuple[Path, str]] = set()

    async def refresh(self, repository: Repository, *, fresh: bool = False) -> None:
        """Make the copy no older than `max_age`, or no older than this call; local ones are.

        Whoever stops waiting does not stop the fetch: the next call finds it further on.
        """
        origin = self._origins.get(repository.host)
        if origin is None:
            return
        if repository.git_dir == Path():
            raise PermanentError(f"{repository.name!r} has no place for its mirror")
        asked = self._clock.now()
        since = asked if fresh else asked - self._max_age
        for _ in range(2):  # what runs already may have begun before we asked
            if self._fetched_since(repository, since):
                return
            await asyncio.shield(self._fetching(repository, origin, since))

    async def holds(self, repository: Repository, commit: str) -> bool:
        """Return whether the copy has a commit, if need be after a look at the remote."""
        key = repository.git_dir, commit
        if repository.host not in self._origins or key in self._known:
            return True
        if not await self._has(repository, commit):
            await self.refresh(repository, fresh=True)
            if not await self._has(repository, commit):
                return False
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known.add(key)
        return True

    async def stop(self) -> None:
        """End what is being fetched; the next fetch clears away what that leaves."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _fetching(
        self, repository: Repository, origin: Origin, since: datetime
    ) -> asyncio.Task[None]:
        place = repository.git_dir
        if place not in self._running:
            task = asyncio.create_task(self._fetch(repository, origin, since))
            self._running[place] = task
            task.add_done_callback(lambda done: self._ended(place, done))
        return self._running[place]

    def _ended(self, place: Path, task: asyncio.Task[None]) -> None:
        del self._running[place]
        if not task.cancelled():
            task.exception()  # perhaps nobody waits any more, which is no fault

    async def _fetch(self, repository: Repository, origin: Origin, since: datetime) -> None:
        lock = repository.git_dir.with_suffix(".lock")
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            async with alone(lock, self._bounds.seconds) as held:
                if not self._fetched_since(repository, since):  # by another process
                    begun = self._clock.now()
                    await fetching.fetch(repository, origin, self._bounds, held)
                    self._stamp(repository, begun)
        except OSError as error:
            raise PermanentError(
                f"the copy of {repository.name!r} cannot be written at {str(lock.parent)!r}: "
                f"{error.strerror}; mend `mirrors` in gitops.yaml"
            ) from error

    def _stamp(self, repository: Repository, begun: datetime) -> None:
        new = repository.git_dir / f".{_STAMP}"
        new.write_text(begun.isoformat(), encoding="utf-8")
        new.replace(repository.git_dir / _STAMP)

    def _fetched_since(self, repository: Repository, since: datetime) -> bool:
        """A clock that was set back makes a copy old, never young for ever."""
        with suppress(OSError, ValueError):
            text = (repository.git_dir / _STAMP).read_text(encoding="utf-8")
            return since <= datetime.fromisoformat(text) <= self._clock.now()
        return False

    async def _has(self, repository: Repository, commit: str) -> bool:
        asked = f"{checked(commit)}^{{commit}}"
        if not (repository.git_dir / _STAMP).exists():
            return False
        try:
            await Git(repository.git_dir).run("cat-file", "-e", asked)
        except GitFailed:
            return False
        return True
