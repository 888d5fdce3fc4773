"""How many look on at chats at once: so many together, and so many of one person."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from tocsin_gateway.refusals import RefusedError

MOST, MOST_OF_ONE = 500, 10
LATER_SECONDS = 30


class Seats:
    """Counts them."""

    def __init__(self, most: int = MOST, of_one: int = MOST_OF_ONE) -> None:
        self._most = most
        self._of_one = of_one
        self._taken: Counter[str] = Counter()

    def admit(self, who: str) -> None:
        """Raise RefusedError when there is no seat left."""
        if self._taken[who] >= self._of_one:
            raise RefusedError(
                429, f"you look on {self._of_one} times already", "close one", LATER_SECONDS
            )
        if self._taken.total() >= self._most:
            raise RefusedError(
                503, f"{self._most} clients look on already", "try again later", LATER_SECONDS
            )

    def take(self, who: str) -> Callable[[], None]:
        """Take one, until what is returned is called; RefusedError when there is none left."""
        self.admit(who)
        seat = ExitStack()
        seat.enter_context(self.taken(who))
        return seat.close

    @contextmanager
    def taken(self, who: str) -> Iterator[None]:
        """Take one while the block runs."""
        self._taken[who] += 1
        try:
            yield
        finally:
            self._taken -= Counter((who,))
