"""The few settings that services take over while they work, from the store that all share."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError
from redis.asyncio import Redis

from tocsin_contracts.base import Value
from tocsin_kit import keys, logging
from tocsin_kit.errors import TransientError
from tocsin_kit.origins import Explained
from tocsin_kit.settings import LogLevel
from tocsin_kit.store import text_fields, translated

LOOK_SECONDS = 5.0
"""How long a change takes to reach every service, at most."""

_EXPLAINED = TypeAdapter(tuple[Explained, ...])
log = logging.get(__name__)


class LiveSettings(Value):
    """What can be changed while services run; null is what each of them was started with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    log_level: LogLevel | None = Field(
        default=None, description="Least level that every service writes to its console."
    )
    max_attempts: int | None = Field(
        default=None, ge=1, le=100, description="Tries before a message is parked."
    )
    investigation_seconds: float | None = Field(
        default=None, gt=0, le=3600, description="Seconds an investigation may ask questions for."
    )
    investigation_calls: int | None = Field(
        default=None, ge=1, le=10_000, description="Questions an investigation may ask."
    )
    answers_per_hour: int | None = Field(
        default=None, ge=0, le=1000, description="Comments on a pull request that are answered."
    )


class Change(Value):
    """The value of one setting as JSON, and who set it when."""

    value: str
    by: str
    at: AwareDatetime


class LiveStore:
    """Changes and reads them. Every method raises TransientError without an answer."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def changes(self) -> dict[str, Change]:
        """Return what was changed, by its name; what this version cannot read is left out."""
        async with translated("read live settings"):
            record = text_fields(await self._client.hgetall(keys.live_settings()))
        return {name: change for name, body in record.items() if (change := _read(name, body))}

    async def set(self, name: str, change: Change | None) -> None:
        """Set one; None goes back to what each service was started with."""
        async with translated(f"set {name!r}"):
            if change is None:
                await self._client.hdel(keys.live_settings(), name)
            else:
                await self._client.hset(keys.live_settings(), name, change.model_dump_json())

    async def tell(self, service: str, explained: Sequence[Explained]) -> None:
        """Say with which settings a service runs; of its replicas the last one says it."""
        body = _EXPLAINED.dump_json(tuple(explained))
        async with translated(f"tell the settings of {service!r}"):
            await self._client.hset(keys.explained(), service, body)

    async def explained(self) -> dict[str, tuple[Explained, ...]]:
        """Return with which settings each service was started, secrets masked."""
        async with translated("read settings"):
            record = text_fields(await self._client.hgetall(keys.explained()))
        return {service: _EXPLAINED.validate_json(body) for service, body in record.items()}


class Live:
    """What holds right now in this process; it looks every few seconds."""

    def __init__(self) -> None:
        self._heard: list[Callable[[LiveSettings], None]] = []
        self.now = LiveSettings()

    def on_change(self, hear: Callable[[LiveSettings], None]) -> None:
        """Call this with what holds, each time that it has changed."""
        self._heard.append(hear)

    async def run(self, store: LiveStore) -> None:
        """Look until cancelled; while the store is away what was seen last holds."""
        while True:
            try:
                await self.look(store)
            except TransientError as error:
                log.info("live_settings.unseen", why=str(error))
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self, store: LiveStore) -> None:
        """Take over what was changed. Raises TransientError without an answer of the store."""
        changes = await store.changes()
        now = LiveSettings(**{name: _value(change) for name, change in changes.items()})
        if now != self.now:
            self.now = now
            log.warning("live_settings.changed", **now.model_dump(mode="json", exclude_none=True))
            for hear in self._heard:
                hear(now)


def checked(wish: Mapping[str, Any]) -> LiveSettings:
    """Return wished values in their types; ValidationError names what does not fit."""
    return LiveSettings.model_validate(wish)


def _read(name: str, body: str) -> Change | None:
    try:
        change = Change.model_validate_json(body)
        LiveSettings.model_validate({name: _value(change)})
    except (ValidationError, ValueError) as error:
        log.warning("live_settings.unreadable", name=name, why=type(error).__name__)
        return None
    return change


def _value(change: Change) -> Any:
    return TypeAdapter(Any).validate_json(change.value)
