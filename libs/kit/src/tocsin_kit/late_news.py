"""Alerts that joined a run after it was opened: for its investigation, and for people."""

from datetime import timedelta

from redis.asyncio import Redis

from tocsin_contracts import RelatedAlert, RunId
from tocsin_kit import keys
from tocsin_kit.store import translated

MOST = 50
"""Alerts of one run that are kept; more say nothing that these do not."""

KEPT = timedelta(days=30)


class LateNews:
    """One list per run, in which each alert stands once however often it is told."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def add(self, run_id: RunId, news: RelatedAlert) -> None:
        """Keep an alert of a run, unless it is known or there are too many."""
        key = keys.late_news(run_id)
        async with translated(f"keep news of {run_id!r}"):
            if await self._client.hlen(key) >= MOST:
                return
            pipe = self._client.pipeline(transaction=False)
            pipe.hsetnx(key, news.alert.fingerprint, news.model_dump_json())
            pipe.expire(key, KEPT)
            await pipe.execute()

    async def of(self, run_id: RunId) -> tuple[RelatedAlert, ...]:
        """Return what joined a run, in the order it was told."""
        async with translated(f"read news of {run_id!r}"):
            stored = await self._client.hvals(keys.late_news(run_id))
        news = [RelatedAlert.model_validate_json(one) for one in stored]
        return tuple(sorted(news, key=lambda one: (one.at, one.alert.fingerprint)))
