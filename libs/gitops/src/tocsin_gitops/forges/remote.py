"""Open pull requests where a commit's id cannot be foretold: look, write once, look again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol

from tocsin_gitops.config import Repository
from tocsin_gitops.forges import commits, markers
from tocsin_gitops.forges.commits import Kept, Seen
from tocsin_gitops.forges.port import BranchTaken, PullRequestRequest
from tocsin_gitops.hosts.failures import ConflictError, NotFoundError
from tocsin_gitops.hosts.port import PullReader
from tocsin_gitops.pulls import Comment, PullRequest, PullState
from tocsin_kit.clock import Clock
from tocsin_kit.errors import PermanentError, TransientError

EVER = datetime(1970, 1, 1, tzinfo=UTC)
LOOKS = (1.0, 2.0, 4.0)
"""Seconds between looks at a list that lags behind what the host itself says is there."""

NO_COMMIT = "no commit"
CONFLICT = 409


class Steps(Protocol):
    """What an API does, a request or a few each. Nothing here decides, or tries again."""

    @property
    def reader(self) -> PullReader:
        """The read side of the same host."""

    async def branch(self, repository: Repository, name: str) -> str | None:
        """Return the commit that a branch is at, or None if it is not there."""

    async def seen(self, repository: Repository, sha: str) -> Seen:
        """Return a commit; NotFoundError if there is none."""

    async def kept(self, repository: Repository, sha: str, path: str) -> Kept | None:
        """Return what a commit keeps at a path, or None."""

    async def commit(
        self, request: PullRequestRequest, before: Mapping[str, Kept | None], *, is_new: bool
    ) -> None:
        """Commit all files at once on the request's branch, made from the parent if it is new."""

    async def open(self, request: PullRequestRequest) -> PullRequest:
        """Open the pull request; ConflictError if there is an open one already."""

    async def pull(self, repository: Repository, number: int) -> PullRequest:
        """Return one pull request; PermanentError if its branch is not of this repository."""

    async def edit(self, request: PullRequestRequest, number: int) -> PullRequest:
        """Show the title and body of the request in a pull request."""

    async def myself(self, repository: Repository) -> str:
        """Return the id of the user that the token belongs to."""

    async def write(self, repository: Repository, number: int, body: str) -> Comment:
        """Write one comment."""


class RemoteForge:
    """A Forge made of an API's steps, where the same request gives another commit each time.

    The branch may be moved by others between a look and a write; what was not approved is then
    seen by the look after, and is refused as BranchTaken. It stays as it is, for a person.
    """

    def __init__(self, steps: Steps, clock: Clock) -> None:
        self._steps = steps
        self._clock = clock

    @property
    def name(self) -> str:
        """The type of host, as `type` of a provider names it."""
        return self._steps.reader.name

    async def open_pull(self, request: PullRequestRequest) -> PullRequest:
        """Open the pull request, or return it if it was opened before; BranchTaken otherwise."""
        commits.refuse_other_branches(request)
        with _patience():
            return await self._opened(request) or await self._open(request)

    async def add_commit(self, request: PullRequestRequest, number: int) -> PullRequest:
        """Add one commit to the branch of an open pull request, and show the new title and body."""
        commits.refuse_other_branches(request)
        with _patience():
            return await self._add(request, number)

    async def comment(self, repository: Repository, number: int, body: str, marker: str) -> Comment:
        """Comment once for each marker, which goes into the comment unseen; return what is there.

        The marker counts at the end only, so that nothing that is quoted is taken for one.
        """
        ends = markers.closing(marker)
        with _patience():
            myself = await self._steps.myself(repository)
            said = await self._steps.reader.comments(repository, number, EVER)
            known = markers.marked(said, myself, marker)
            if known is not None:
                return known
            return await self._steps.write(repository, number, f"{body.rstrip()}\n\n{ends}\n")

    async def _open(self, request: PullRequestRequest) -> PullRequest:
        commit = await self._landed(request, is_new=True)
        try:
            pull = await self._steps.open(request)
        except ConflictError as refused:
            return await self._opened_meanwhile(request, refused)
        return pull.model_copy(update={"commit": commit})

    async def _add(self, request: PullRequestRequest, number: int) -> PullRequest:
        pull = await self._steps.pull(request.repository, number)
        commits.refuse_other_pulls(pull, request)
        if pull.state is not PullState.OPEN:
            if await self._is_ours(request, pull.commit):
                return pull
            raise PermanentError(f"{pull.url} is {pull.state.value}; nothing is added to it")
        commit = await self._landed(request, is_new=False)
        edited = await self._steps.edit(request, number)
        return edited.model_copy(update={"commit": commit})

    async def _opened(self, request: PullRequestRequest) -> PullRequest | None:
        """Return the newest pull request of the branches, whatever its state; it has to be ours.

        One that a person closed is returned closed: it is never opened again.
        """
        pulls = await self._steps.reader.pulls(request.repository, request.head_branch)
        newest = next((one for one in pulls if one.base_branch == request.base_branch), None)
        if newest is None:
            return None
        if not newest.commit:
            raise TransientError(f"{newest.url} does not show its commit yet")
        if not await self._is_ours(request, newest.commit):
            raise BranchTaken(request.head_branch, newest.commit)
        return newest

    async def _opened_meanwhile(
        self, request: PullRequestRequest, refused: ConflictError
    ) -> PullRequest:
        """Find what the host says is there; its lists may lag behind."""
        for seconds in LOOKS:
            known = await self._opened(request)
            if known:
                return known
            await self._clock.sleep(seconds)
        raise refused

    async def _landed(self, request: PullRequestRequest, *, is_new: bool) -> str:
        """Return the request's commit at the head of its branch; it is made if it is not there."""
        repository, branch = request.repository, request.head_branch
        head = await self._steps.branch(repository, branch)
        if head is None and not is_new:
            raise BranchTaken(branch, NO_COMMIT)
        if head in (None, request.parent_sha):
            await self._commit(request, is_new=head is None)
            head = await self._steps.branch(repository, branch)
            if head in (None, request.parent_sha):
                raise TransientError(f"{repository.name!r} does not show the new commit yet")
        if head is None or not await self._is_ours(request, head):
            raise BranchTaken(branch, head or NO_COMMIT)
        return head

    async def _commit(self, request: PullRequestRequest, *, is_new: bool) -> None:
        """Commit; a refusal means nothing if the branch moved meanwhile: that is looked at next."""
        repository, parent = request.repository, request.parent_sha
        before = {
            path: await self._steps.kept(repository, parent, path) for path in sorted(request.files)
        }
        odd = next((path for path, kept in before.items() if kept and not kept.is_plain), None)
        if odd is not None:
            raise PermanentError(f"{odd!r} is no plain file; only plain files are written")
        try:
            await self._steps.commit(request, before, is_new=is_new)
        except PermanentError:
            head = await self._steps.branch(repository, request.head_branch)
            if head in (None, parent):
                raise

    async def _is_ours(self, request: PullRequestRequest, sha: str) -> bool:
        """Whether a commit is on the approved parent and holds the approved bytes, nothing else."""
        try:
            seen = await self._steps.seen(request.repository, sha)
        except NotFoundError:
            return False
        if not commits.may_be_ours(seen, request):
            return False
        for path, data in request.files.items():
            kept = await self._steps.kept(request.repository, sha, path)
            if kept is None or not kept.holds(data):
                return False
        return True


@contextmanager
def _patience() -> Iterator[None]:
    """What meets something that nothing shows (409) may be told apart a little later."""
    try:
        yield
    except ConflictError as refused:
        if refused.status != CONFLICT:
            raise
        raise TransientError(f"{refused}; nothing shows it yet", retry_in=15) from refused
