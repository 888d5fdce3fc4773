"""One way to hold plugins of one kind by name: our own, and installed ones that are allowed."""

from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, Protocol, TypeVar

from tocsin_kit.errors import PermanentError


class Named(Protocol):
    """Anything a registry can hold."""

    @property
    def name(self) -> str:
        """The key that settings and URLs use."""


P = TypeVar("P", bound=Named)

BROKEN = (
    *(ImportError, SyntaxError, NameError, AttributeError, TypeError, ValueError, LookupError),
    *(ArithmeticError, AssertionError, OSError, RuntimeError),
)
"""What the code of a plugin raises while it is loaded, when it does not work here."""


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


def installed(kind: str, group: str, names: Iterable[str]) -> list[Any]:
    """Return the plugins of an entry-point group that are named; no other code is loaded.

    An entry point leads to what makes the plugin when it is called: its class. Raises
    PermanentError for a name that nothing or more than one package brings, and for a plugin that
    does not load or calls itself otherwise.
    """
    wanted = dict.fromkeys(names)
    points = entry_points(group=group) if wanted else ()  # it reads a file of each package
    return [_loaded(kind, _only(kind, name, points)) for name in wanted]


def _only(kind: str, name: str, points: Iterable[EntryPoint]) -> EntryPoint:
    found = [point for point in points if point.name == name]
    if not found:
        known = ", ".join(sorted({point.name for point in points})) or "none"
        raise PermanentError(f"{kind}: no plugin {name!r} is installed; installed: {known}")
    if len(found) > 1:
        where = " and ".join(sorted(point.value for point in found))
        raise PermanentError(f"{kind}: two plugins are called {name!r} ({where}); remove one")
    return found[0]


def _loaded(kind: str, point: EntryPoint) -> Any:
    try:
        plugin = point.load()()
        name = plugin.name
    except BROKEN as error:
        raise PermanentError(
            f"{kind}: plugin {point.name!r} ({point.value}) does not load: {error!r}"
        ) from error
    if name != point.name:
        raise PermanentError(f"{kind}: plugin {point.name!r} calls itself {name!r}; rename it")
    return plugin
