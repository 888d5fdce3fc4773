"""How long to wait before what died is started again."""

from dataclasses import dataclass


@dataclass(slots=True)
class Backoff:
    """Doubles with every death, up to a limit; a long healthy life starts it over. In seconds."""

    first: float = 0.2
    longest: float = 5.0
    healthy_after: float = 30.0
    _next: float = 0.0

    def after(self, lived: float) -> float:
        """Return the wait after a life of so many seconds."""
        if lived >= self.healthy_after or not self._next:
            self._next = self.first
        wait = self._next
        self._next = min(self._next * 2, self.longest)
        return wait
