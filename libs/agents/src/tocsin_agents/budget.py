"""What one investigation may spend, so that it ends however much there is to see."""

from collections.abc import Callable


class BudgetSpent(Exception):  # noqa: N818 - the field's term; an end, not a fault
    """Nothing is left to spend; the message says of what."""


class Budget:
    """A number of calls and a number of seconds, counted from its making by a monotonic clock."""

    def __init__(self, calls: int, seconds: float, clock: Callable[[], float]) -> None:
        self._calls = calls
        self._seconds = seconds
        self._clock = clock
        self._until = clock() + seconds
        self._left = calls

    @property
    def calls_left(self) -> int:
        """How many calls may still be made."""
        return self._left

    @property
    def seconds_left(self) -> float:
        """How much time is left, in seconds; never negative."""
        return max(0.0, self._until - self._clock())

    def spend(self) -> None:
        """Pay for one call before it is made; raise BudgetSpent when it cannot be paid."""
        if self.seconds_left <= 0:
            raise BudgetSpent(f"the {self._seconds:g} seconds of the investigation are over")
        if self._left <= 0:
            raise BudgetSpent(f"the {self._calls} calls of the investigation are made")
        self._left -= 1
