"""The gateway as it is wired for real, with servers that are away: every address and its role."""

from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self
from unittest.mock import patch

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, APIWebSocketRoute
from starlette.routing import BaseRoute

from tocsin_contracts.roles import Role
from tocsin_gateway import app
from tocsin_gateway.access import Needs
from tocsin_gateway.console.door import Behind
from tocsin_gateway.console.site import Beside
from tocsin_gateway.headers import Armoured
from tocsin_kit import store
from tocsin_kit.parts import Parts
from tocsin_testing.fakes import outage

WEBSOCKET = "WEBSOCKET"


@dataclass(frozen=True, slots=True)
class Address:
    """A method and a path of the gateway; without a role it is open to strangers, or forgotten."""

    method: str
    path: str
    role: Role | None

    @property
    def changes(self) -> bool:
        """Whether it is for more than reading."""
        return self.method != "GET"


class Away:
    """A server of which nothing answers: whatever is asked of it fails like an outage."""

    def __getattr__(self, name: str) -> Self:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Self:
        """Be asked."""
        return self

    def __await__(self) -> Generator[Any, None, NoReturn]:
        """Do not answer."""
        raise outage()
        yield

    def __aiter__(self) -> Self:
        """Be read."""
        return self

    def __anext__(self) -> Awaitable[NoReturn]:
        """Do not answer."""
        raise outage()

    async def __aenter__(self) -> NoReturn:
        """Do not answer."""
        raise outage()

    async def __aexit__(self, *told: object) -> None:
        """Be left."""


def gateway(flags: Sequence[str]) -> Armoured:
    """Return the HTTP application of the gateway with these settings."""
    away: Any = Away()
    parts = Parts(redis=away, raw_redis=away, runs=away, reader=away, bus=away)
    with (
        patch.object(Parts, "of", lambda *args, **kwargs: parts),
        patch.object(store, "pipeline", lambda client: client),
    ):
        http = app.build(flags).http
    if not isinstance(http, Armoured):
        raise TypeError(f"the gateway answers by {type(http).__name__}, which is not armoured")
    return http


def addresses(http: Armoured) -> tuple[list[Address], list[Address]]:
    """Return every address of the API, and every one of the console."""
    both: Any = http.app
    if not isinstance(both, Beside):
        raise TypeError("the API does not stand beside the console")
    api, console = (list(_flat(getattr(one, "routes", ()))) for one in (both.api, both.console))
    return [_address(route) for route in api], [_address(route) for route in console]


def _flat(routes: Sequence[BaseRoute]) -> Iterator[BaseRoute]:
    for route in routes:
        included = getattr(route, "original_router", None)
        if included:
            yield from _flat(included.routes)
        else:
            yield route


def _address(route: BaseRoute) -> Address:
    path: str = getattr(route, "path", "")
    if isinstance(route, APIWebSocketRoute):
        return Address(WEBSOCKET, path, _role(route.dependant))
    (method,) = set(getattr(route, "methods", ())) - {"HEAD"}
    role = _role(route.dependant) if isinstance(route, APIRoute) else None
    return Address(method, path, route.role if isinstance(route, Behind) else role)


def _role(dependant: Dependant) -> Role | None:
    """Return the highest role that a route depends on."""
    return max(_roles(dependant.call, dependant.dependencies), key=list(Role).index, default=None)


def _roles(call: Callable[..., Any] | None, dependencies: Sequence[Dependant]) -> Iterator[Role]:
    if isinstance(call, Needs):
        yield call.role
    for one in dependencies:
        yield from _roles(one.call, one.dependencies)
