"""One way to hold plugins of one kind by name."""

from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from tocsin_kit.errors import PermanentError


class Named(Protocol):
    """Anything a registry can hold."""

    @property
    def name(self) -> str:
        """The key that settings and URLs use."""


P = TypeVar("P", bound=Named)


class Registry(Generic[P]):
    """Plugins of one kind, by name. Two plugins with one name stop the service at start."""

    def __init__(self, kind: str, plugins: Iterable[P]) -> None:
        self._kind = kind
        self._plugins: dict[str, P] = {}
        for plugin in plugins:
            if plugin.name in self._plugins:
                raise PermanentError(f"{kind}: two plugins are called {plugin.name!r}; rename one")
            self._plugins[plugin.name] = plugin

    def __iter__(self) -> Iterator[P]:
        return iter(self._plugins.values())

    def __contains__(self, name: str) -> bool:
        return name in self._plugins

    def __getitem__(self, name: str) -> P:
        try:
            return self._plugins[name]
        except KeyError:
            known = ", ".join(sorted(self._plugins))
            raise PermanentError(f"{self._kind}: no {name!r}; known: {known}") from None
