"""Runs that were superseded, and the open one that looks after each: what it is told of them."""

from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    Novelty,
    RunId,
    RunSuperseded,
)
from tocsin_ingest.ports import Crowd
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally

MOST_HOPS = 8
"""Runs of a chain in which each was superseded by the next; a longer one leads nowhere."""

MOST_JOINED = 50
"""Runs that one looks after and is told of; more are a storm, and its digest tells of them."""

News = AlertRepeated | AlertResolved


class Survivors:
    """Finds the run that looks after another, and tells it. Raises TransientError."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd

    async def of(self, run: Run) -> Run | None:
        """Return the open run that looks after a superseded one, or None."""
        found: Run | None = run
        for _ in range(MOST_HOPS):
            superseded = found.fact(RunSuperseded) if found and found.state.terminal else None
            if superseded is None:
                break
            found = await self._crowd.reader.get(superseded.into)
        return None if found is None or found.state.terminal or found.id == run.id else found

    async def join(self, run: Run, joined: RunId, incident_key: str) -> bool:
        """Leave a run to whoever looks after `run`; return whether anybody does.

        It is looked for twice: one that ended meanwhile knows nothing of what it was left.
        """
        survivor = await self.of(run)
        if survivor is None:
            return False
        await self._crowd.joined.add(survivor.id, joined, incident_key)
        return await self.of(run) is not None

    async def tell(self, run: Run, news: News) -> None:
        """Tell who looks after a run what became of an alert of it; the same news twice is one.

        A repeat without news is only counted, as it would be of an alert of its own.
        """
        if isinstance(news, AlertRepeated) and news.novelty is Novelty.NOTHING:
            return
        survivor = await self.of(run)
        if survivor is None or await self._crowd.joined.count(survivor.id) > MOST_JOINED:
            return
        own, *joined = await self._tallies(survivor, run)
        told = news.model_copy(
            update={
                "run_id": survivor.id,
                "run_version": 0,
                **_counts(news, own, joined),
            }
        )
        await self._crowd.publisher.publish(told.caused_by(news.id, "ingest"))

    async def _tallies(self, survivor: Run, run: Run) -> list[Tally | None]:
        """The counts of a run, and of all that it looks after."""
        keys = dict(await self._crowd.joined.of(survivor.id))
        for one in (survivor, run):
            if accepted := one.fact(AlertAccepted):
                keys[one.id] = accepted.incident_key
        own = keys.pop(survivor.id, "")
        wanted = [(own, survivor.id), *((key, run_id) for run_id, key in keys.items())]
        return await self._crowd.tallies.many(wanted)


def _counts(news: News, own: Tally | None, joined: list[Tally | None]) -> dict[str, int]:
    """What stands on news in place of the counts of the run that it came from."""
    if isinstance(news, AlertResolved):
        return {"still_firing": sum(map(_firing, (own, *joined)))}
    if own is None:
        return {}
    return {"occurrences": own.occurrences, "episodes": own.episodes}


def _firing(tally: Tally | None) -> int:
    """A run of which nothing is known may still fire."""
    return 1 if tally is None else tally.firing
