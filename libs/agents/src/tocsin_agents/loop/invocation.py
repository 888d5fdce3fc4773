"""What a run of the loop is about beside its state: for whom, who listens, and a way to stop it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tocsin_agents.loop.events import Listener, nobody
from tocsin_agents.tools.port import ToolContext


class Cancel:
    """A wish to stop, which whoever works on the run is told at once."""

    def __init__(self) -> None:
        self.by = ""
        self.requested = False
        self._told: set[Callable[[], None]] = set()

    def request(self, by: str) -> None:
        """Ask to stop; the first wish is the one that counts."""
        if self.requested:
            return
        self.requested, self.by = True, by
        for tell in tuple(self._told):
            tell()

    @contextmanager
    def telling(self, tell: Callable[[], None]) -> Iterator[None]:
        """Tell somebody while the block runs, and at once if it was requested before."""
        self._told.add(tell)
        try:
            if self.requested:
                tell()
            yield
        finally:
            self._told.discard(tell)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One use of the loop; nothing of it is ever in a checkpoint.

    `source` is the source of alerts whose day pays for it. `scope` is what kept outputs belong to:
    nobody of another scope can read them.
    """

    tools: ToolContext
    source: str = ""
    scope: str = ""
    cancel: Cancel = field(default_factory=Cancel)
    hear: Listener = nobody


_CURRENT: ContextVar[Invocation] = ContextVar("tocsin_agents_invocation")


def current() -> Invocation:
    """Return the invocation that the running step belongs to."""
    return _CURRENT.get()


@contextmanager
def entered(invocation: Invocation) -> Iterator[None]:
    """Make an invocation the current one of the block, and of the tasks that it starts."""
    token = _CURRENT.set(invocation)
    try:
        yield
    finally:
        _CURRENT.reset(token)
