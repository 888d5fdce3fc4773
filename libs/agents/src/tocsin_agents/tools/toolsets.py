"""Tools of our own: what one server of them is called, and which of them a service has."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from tocsin_agents.tools.names import checked
from tocsin_agents.tools.port import Identity, Tool
from tocsin_kit.errors import PermanentError
from tocsin_kit.registry import Registry, installed

GROUP = "tocsin.tools"
"""Installed packages bring toolsets as entry points of this group."""


class NamedToolset(Protocol):
    """A toolset that a registry can hold."""

    @property
    def name(self) -> str:
        """The server that its tools belong to."""

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return what is connected now and allowed for the identity."""


class OwnTools:
    """Tools that are always there; PermanentError for one of another server, or one twice."""

    def __init__(self, name: str, tools: Iterable[Tool]) -> None:
        self.name = name
        self._tools = tuple(tools)
        names = [checked(tool.spec.name) for tool in self._tools]
        for called in names:
            if not called.startswith(f"{name}."):
                raise PermanentError(f"tool {called!r} does not belong to server {name!r}")
            if names.count(called) > 1:
                raise PermanentError(f"two tools are called {called!r}; rename one")

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return all of them: what an identity may use is decided by the catalogue."""
        del identity
        return self._tools


def load(builtin: Iterable[NamedToolset], wanted: Iterable[str] = ()) -> Registry[NamedToolset]:
    """Return our own toolsets and the wanted installed ones by the name of their server."""
    return Registry("toolset", (*builtin, *installed("toolset", GROUP, wanted)))
