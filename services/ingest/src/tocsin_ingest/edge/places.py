"""Who holds how many of the places for requests that are worked on at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tocsin_ingest.edge.answers import RefusedError, unavailable
from tocsin_ingest.edge.bodies import Limits
from tocsin_ingest.edge.counting import Reason


@dataclass(slots=True)
class Pool:
    """Whose requests are counted together, how many there are, and as what one more is refused."""

    reason: Reason
    most: int
    name: str = ""
    taken: int = 0


class Places:
    """Requests in all, of each sender, and of those whom nobody knows yet.

    The last are half of all at most, and of one peer no more than of one sender: whoever floods
    without having shown who it is takes no place of somebody who has.
    """

    def __init__(self, limits: Limits) -> None:
        self._each = limits.share
        self._all = Pool(Reason.BUSY, limits.in_flight)
        self._strangers = Pool(Reason.BUSY_STRANGERS, (limits.in_flight + 1) // 2)
        self._shares: dict[str, Pool] = {}

    @contextmanager
    def room(self) -> Iterator["Place"]:
        """Hold a place until the request is done with, or refuse it; 503."""
        self.take(self._all)
        place = Place(self)
        try:
            yield place
        finally:
            place.count_for()
            self.leave(self._all)

    def of_stranger(self, peer: str) -> tuple[Pool, ...]:
        """Return where a request counts whose sender is not known yet."""
        return self._strangers, self._share(Reason.BUSY_STRANGERS, f"peer {peer}")

    def of_sender(self, name: str) -> Pool:
        """Return where a request counts whose sender has shown who it is."""
        return self._share(Reason.BUSY_SENDER, name)

    def take(self, pool: Pool) -> None:
        """Count one more, or refuse; 503."""
        if pool.taken >= pool.most:
            raise _busy(pool)
        pool.taken += 1
        if pool.name:
            self._shares[pool.name] = pool

    def leave(self, pool: Pool) -> None:
        """Count one less; a share that is empty is forgotten."""
        pool.taken -= 1
        if not pool.taken:
            self._shares.pop(pool.name, None)

    def _share(self, reason: Reason, name: str) -> Pool:
        return self._shares.get(name) or Pool(reason, self._each, name)


class Place:
    """One request's place, which counts for nobody at first."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._pools: list[Pool] = []

    def count_for(self, *pools: Pool) -> None:
        """Count in these pools from now on, and in no other; or refuse; 503."""
        while self._pools:
            self._places.leave(self._pools.pop())
        for pool in pools:
            self._places.take(pool)
            self._pools.append(pool)


def _busy(pool: Pool) -> RefusedError:
    of_whom = {
        Reason.BUSY: "",
        Reason.BUSY_SENDER: f" of {pool.name!r}",
        Reason.BUSY_STRANGERS: " of nobody known yet",
    }
    error = f"{pool.most} requests{of_whom[pool.reason]} are being worked on"
    return unavailable(pool.reason, error, "send it again; nothing was lost")
