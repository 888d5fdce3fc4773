"""What was made of a case once, for the dozens of analyzers that ask alike."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo:
    """Keeps what a function of the case alone returned, by a key that only this function uses."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept by a key; make it if nothing is."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made
