"""Which states of a run a handler may start from, and what the run is called meanwhile."""

from collections.abc import Iterable
from dataclasses import dataclass

from tocsin_contracts import OPEN_STATES, RunState


@dataclass(frozen=True, slots=True)
class Move:
    """The states a handler may start from; `during` names the run while it works.

    A person who asks the run to stop stops the handler, unless it only tells of runs or is the one
    that ends them.
    """

    starts: frozenset[RunState]
    during: RunState | None = None
    stoppable: bool = True

    @property
    def earlier(self) -> frozenset[RunState]:
        """The states from which one of the starts may still be reached: wait, do not drop."""
        last = max((_RANK[state] for state in self.starts if state in _RANK), default=-1)
        return frozenset(s for s in OPEN_STATES if _RANK[s] < last) - self.starts


_RANK = {state: rank for rank, state in enumerate(OPEN_STATES)}


def move(*starts: RunState, during: RunState | None = None) -> Move:
    """Return the move from any of the states; the working state may be resumed from."""
    return Move(frozenset(starts) | ({during} if during else frozenset()), during)


OPEN = Move(frozenset(OPEN_STATES), stoppable=False)
"""From any state that is not terminal: for handlers that end runs."""

ANY = Move(frozenset(RunState), stoppable=False)
"""From any state: for services that watch runs and move none."""


def join(states: Iterable[RunState]) -> str:
    """Write states the way the Lua scripts read them; the earliest comes first."""
    return ",".join(state.value for state in RunState if state in frozenset(states))
