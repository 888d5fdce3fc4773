"""`/api/v1/config`: with what everything runs, and the few things that change while it does."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Depends
from pydantic import ValidationError

from tocsin_contracts.base import Value
from tocsin_contracts.configuring import ConfigChanged
from tocsin_contracts.operations import NO_RUN
from tocsin_contracts.roles import Role
from tocsin_gateway.access import Principal, needs
from tocsin_gateway.ports import Publisher
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.clock import Clock
from tocsin_kit.live_settings import Change, LiveSettings, checked
from tocsin_kit.origins import Explained, Origin
from tocsin_kit.untrusted import line

_SECRETS = ("token", "secret", "password", "_keys", "webhook_url")
_AUTHORITY = ("approv", "quorum", "role", "glass", "own_accounts", "forge_accounts", "proxy")
_PLACES = ("_url", "_port", "host", "prefix", "_file", "_dir")
SETTABLE = tuple(LiveSettings.model_fields)


class Store(Protocol):
    """Keeps what was changed. May raise TransientError."""

    async def changes(self) -> dict[str, Change]:
        """Return what was changed, by its name."""

    async def set(self, name: str, change: Change | None) -> None:
        """Set one; None goes back to what each service was started with."""

    async def explained(self) -> dict[str, tuple[Explained, ...]]:
        """Return with which settings each service was started, secrets masked."""


class ConfigView(Value):
    """Every setting by service, with where its value comes from; secrets are masked.

    `live` are the settings that can be changed here, as they hold for all services.
    """

    services: Mapping[str, tuple[Explained, ...]]
    live: LiveSettings


class Config:
    """Shows settings, and changes those of the allow list."""

    def __init__(self, store: Store, publisher: Publisher, clock: Clock) -> None:
        self._store = store
        self._publisher = publisher
        self._clock = clock

    async def view(self) -> ConfigView:
        """Return what holds, and where it comes from."""
        changes, told = await self._store.changes(), await self._store.explained()
        services = {
            service: tuple(_effective(one, changes) for one in explained)
            for service, explained in sorted(told.items())
        }
        values = {name: json.loads(change.value) for name, change in changes.items()}
        return ConfigView(services=services, live=checked(values))

    async def change(self, wish: Mapping[str, Any], by: str) -> ConfigView:
        """Change settings, all or none; RefusedError says which cannot be, and why."""
        wanted = _wanted(wish)
        before = await self._store.changes()
        for name in wish:
            after = wanted[name]
            was = before[name].value if name in before else None
            if was == after:
                continue
            now = self._clock.now()
            told = ConfigChanged(run_id=NO_RUN, at=now, by=by, key=name, before=was, after=after)
            unique = f"config:{name}:{after}:{by}:{now.isoformat()}"
            event = told.caused_by(unique, "gateway").model_copy(update={"cause": ""})
            await self._publisher.publish(event)
            change = None if after is None else Change(value=after, by=by, at=now)
            await self._store.set(name, change)
        return await self.view()


def routes(config: Config) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/api/v1/config")
    admin = Annotated[Principal, Depends(needs(Role.ADMIN))]

    @router.get("")
    async def view(by: admin) -> ConfigView:
        del by
        return await config.view()

    @router.patch("")
    async def change(wish: dict[str, Any], by: admin) -> ConfigView:
        return await config.change(wish, by.id)

    return router


def _wanted(wish: Mapping[str, Any]) -> dict[str, str | None]:
    """Return each wished value as JSON; None for one that goes back to the start's."""
    if not wish:
        raise RefusedError(422, "nothing is changed", f"name one of: {', '.join(SETTABLE)}")
    refused = [f"{line(name)}: {_why_not(name)}" for name in wish if name not in SETTABLE]
    if refused:
        raise RefusedError(422, "; ".join(refused)[:1000], f"settable: {', '.join(SETTABLE)}")
    try:
        values = checked(wish).model_dump(mode="json")
    except ValidationError as error:
        faults = "; ".join(f"{one['loc'][0]}: {one['msg']}" for one in error.errors())
        raise RefusedError(422, faults, "null goes back to the value of the start") from None
    return {name: None if values[name] is None else json.dumps(values[name]) for name in wish}


def _why_not(name: str) -> str:
    """Say why a setting is read at the start alone."""
    if any(part in name for part in _SECRETS):
        return "secrets are neither shown nor taken over HTTP"
    if any(part in name for part in _AUTHORITY):
        return "who may decide is changed where it is reviewed, not by one account"
    if any(part in name for part in _PLACES):
        return "connections and files are opened at the start"
    return "it is read at the start"


def _effective(one: Explained, changes: Mapping[str, Change]) -> Explained:
    change = changes.get(one.variable.removeprefix("TOCSIN_").lower())
    if change is None:
        return one
    value = json.loads(change.value)
    return one.model_copy(
        update={
            "value": value if isinstance(value, str) else change.value,
            "origin": Origin.LIVE,
            "where": f"by {change.by} at {change.at.isoformat()}",
        }
    )
