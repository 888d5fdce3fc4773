"""The parts that every service is wired from: clients, run store, bus."""

from dataclasses import dataclass, field
from typing import Self

from redis.asyncio import Redis

from tocsin_kit import keys, store
from tocsin_kit.bus import Bus
from tocsin_kit.live_settings import Live
from tocsin_kit.run_view import RunReader
from tocsin_kit.runs import RunStore
from tocsin_kit.settings import ServiceSettings


@dataclass(frozen=True, slots=True)
class Parts:
    """One service's connections. Nothing connects before it is used."""

    redis: Redis
    raw_redis: Redis
    runs: RunStore
    reader: RunReader
    bus: Bus
    live: Live = field(default_factory=Live)

    @classmethod
    def of(cls, settings: ServiceSettings, *, moves_runs: bool) -> Self:
        """Make the parts from settings; `moves_runs` is for services that own run states."""
        keys.use_prefix(settings.redis_prefix)
        redis = store.connect(settings.redis_url)
        runs = RunStore(
            redis,
            lease_seconds=settings.lease_seconds,
            max_attempts=settings.max_attempts,
            ttl_days=settings.run_ttl_days,
        )
        live = Live()
        live.on_change(lambda now: runs.limit_attempts(now.max_attempts or settings.max_attempts))
        return cls(
            redis=redis,
            raw_redis=store.connect(settings.redis_url, text=False),
            runs=runs,
            reader=RunReader(redis),
            bus=Bus(settings, runs, moves_runs=moves_runs),
            live=live,
        )

    async def aclose(self) -> None:
        """Close the clients."""
        await self.redis.aclose()
        await self.raw_redis.aclose()
