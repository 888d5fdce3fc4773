"""Ask the forge and the store what there is about an issue, and who looks after it."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace

from tocsin_contracts import Edit, PlanDrafted, RunId
from tocsin_gitops.carrying import carried
from tocsin_gitops.config import Repository
from tocsin_gitops.editing import EditRefused
from tocsin_gitops.hashing import numbered_branch
from tocsin_gitops.pulls import PullRequest, PullState
from tocsin_gitops.yaml_paths import path_text
from tocsin_kit.clock import Clock
from tocsin_kit.issues import Claim
from tocsin_validation.converging import MOST_BRANCHES, Lacking, Seen, Standing
from tocsin_validation.ports import Issues, Reader, Source


@dataclass(frozen=True, slots=True)
class Rival:
    """Another open run that looks after the same issue, or after the same field."""

    run_id: RunId
    thing: str
    same_issue: bool


class Desk:
    """Where the standing of issues is looked up. Doing it again changes nothing."""

    def __init__(self, source: Source, issues: Issues, runs: Reader, clock: Clock) -> None:
        self._source = source
        self._issues = issues
        self._runs = runs
        self._clock = clock

    async def standing(
        self,
        repository: Repository,
        issue_key: str,
        head_branch: str,
        edits: Sequence[Edit],
        *,
        exactly: bool = False,
    ) -> Standing:
        """Return what is known about an issue for which these edits of the base are found.

        Where a person wants them `exactly`, an amount that goes further is not good enough, and an
        earlier no holds no longer.
        """
        standing = Standing(
            head_branch=head_branch,
            base_branch=repository.branch,
            seen=tuple([one async for one in self._branches(repository, head_branch)]),
            written=await self._issues.written(issue_key),
            refused_until=None if exactly else await self._issues.refused_until(issue_key),
        )
        pull = standing.current.pull if standing.current else None
        if pull is None:
            return standing
        if pull.state is PullState.OPEN:
            lacking = await self._lacking(repository, pull, edits, exactly)
            return replace(standing, lacking=lacking)
        ended_at = pull.ended_at or await self._issues.ended(issue_key, pull.url, self._clock.now())
        return replace(standing, ended_at=ended_at)

    async def rival(
        self, run_id: RunId, repo: str, issue_key: str, edits: Sequence[Edit]
    ) -> Rival | None:
        """Claim the issue and its fields for a run, or return who holds one of them."""
        mine = Claim(run_id, issue_key)
        for thing, name in _things(repo, issue_key, edits):
            held = await self._issues.claim(thing, mine)
            while held != mine and not await self._goes_on(held, mine):
                held = await self._issues.claim(thing, mine, held)
            if held != mine:
                return Rival(held.run_id, name, held.issue_key == issue_key)
        return None

    async def _goes_on(self, held: Claim, mine: Claim) -> bool:
        """Whether the holder is another run that is open, and has not turned to something else."""
        if held.run_id == mine.run_id:
            return False
        run = await self._runs.get(held.run_id)
        if run is None or run.state.terminal:
            return False
        drafted = run.fact(PlanDrafted)
        return drafted is None or drafted.plan.issue_key == held.issue_key

    async def _branches(self, repository: Repository, head_branch: str) -> AsyncIterator[Seen]:
        for number in range(1, MOST_BRANCHES + 1):
            branch = numbered_branch(head_branch, number)
            pulls = await self._source.pulls(repository, branch)
            at = await self._source.branch(repository, branch)
            if at is None and not pulls:
                return
            yield Seen(branch, at, pulls)

    async def _lacking(
        self, repository: Repository, pull: PullRequest, edits: Sequence[Edit], exactly: bool
    ) -> Lacking:
        files = await self._source.files(repository, pull.commit)
        touched = {edit.file: files[edit.file].data for edit in edits if edit.file in files}
        try:
            return Lacking(await asyncio.to_thread(carried, edits, touched, exactly=exactly))
        except EditRefused as refused:
            return Lacking(why=str(refused))


def _things(repo: str, issue_key: str, edits: Sequence[Edit]) -> Iterator[tuple[str, str]]:
    yield f"issue|{issue_key}", "this issue"
    for edit in edits:
        place = f"{path_text(edit.path)} in {edit.file}" if edit.path else edit.file
        yield f"field|{repo}|{edit.file}|{edit.document}|{path_text(edit.path)}", place
