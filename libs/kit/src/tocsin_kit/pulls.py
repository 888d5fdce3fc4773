"""Which run follows a pull request, so that what people do with it there finds its run."""

from collections.abc import Iterable
from datetime import timedelta

from redis.asyncio import Redis

from tocsin_contracts import (
    ChangeProposed,
    Event,
    PlanDrafted,
    PullRequestFound,
    PullRequestOpened,
    PullRequestUpdated,
    RunId,
)
from tocsin_kit import keys
from tocsin_kit.run_view import Run
from tocsin_kit.store import translated

Told = PullRequestOpened | PullRequestUpdated | PullRequestFound
"""After one of these the run follows the pull request; of two runs the later one does."""


def told(run: Run) -> Told | None:
    """Return the newest fact of a run about the pull request that it follows."""
    facts = [fact for fact in run.facts.values() if isinstance(fact, Told)]
    return max(facts, key=lambda fact: fact.at, default=None)


def behind(run: Run) -> PlanDrafted | ChangeProposed | None:
    """Return the fact that holds the plan which was written last; None if another run wrote it.

    Once a comment asks for another change the newest plan may be one that is not written.
    """
    drafted, asked, followed = run.fact(PlanDrafted), run.fact(ChangeProposed), told(run)
    if followed is None or isinstance(followed, PullRequestFound):
        return None
    known = (fact for fact in (drafted, asked) if fact)
    return next((fact for fact in known if fact.plan.plan_hash == followed.plan_hash), None)


class Pulls:
    """Runs by the pull requests that they follow, for as long as runs are kept."""

    def __init__(self, client: Redis, ttl_days: float = 30) -> None:
        self._client = client
        self._ttl_ms = int(timedelta(days=ttl_days).total_seconds() * 1000)

    async def remember(self, events: Iterable[Event]) -> None:
        """Keep the run of every pull request that these events tell of.

        Called before they are committed: whoever dies in between leaves the truth behind.
        """
        for event in events:
            if isinstance(event, Told):
                await self._keep(event)

    async def run_of(self, repo: str, head_branch: str, url: str) -> RunId | None:
        """Return the run of a pull request by its address or else its branch; empty ones find none.

        Raises TransientError when the store does not answer.
        """
        places = _places(repo, head_branch, url)
        if not places:
            return None
        async with translated(f"find the run of {url or head_branch!r} in {repo!r}"):
            found = await self._client.mget(places)
        return next((RunId(str(run_id)) for run_id in found if run_id), None)

    async def _keep(self, event: Told) -> None:
        async with translated(f"keep the run of {event.url!r}"):
            pipe = self._client.pipeline(transaction=False)
            for key in _places(event.repo, event.head_branch, event.url):
                pipe.set(key, event.run_id, px=self._ttl_ms)
            await pipe.execute()


def _places(repo: str, head_branch: str, url: str) -> list[str]:
    """The keys for what is known of a pull request, never one for what is not."""
    places = (url, f"{repo.lower()}#{head_branch}" if repo and head_branch else "")
    return [keys.pull(place) for place in places if place]
