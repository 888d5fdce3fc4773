"""How much one sender may send: a bucket of alerts that fills again, for each sender its own."""

from dataclasses import dataclass

MINUTE = 60.0


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Rates:
    """Buckets that hold a minute's worth; a request that is let in may empty one below zero."""

    def __init__(self) -> None:
        self._buckets: dict[str, _Bucket] = {}

    def wait(self, sender: str, rate: int, now: float) -> float:
        """Return the seconds until a sender may send again; 0 is now. `rate` is in alerts a minute.

        `now` is any steady clock, in seconds.
        """
        left = self._filled(sender, rate, now).left
        return 0.0 if left > 0 else (1 - left) * MINUTE / rate

    def charge(self, sender: str, rate: int, alerts: int, now: float) -> None:
        """Take alerts out of the bucket of who sent them."""
        self._filled(sender, rate, now).left -= alerts

    def _filled(self, sender: str, rate: int, now: float) -> _Bucket:
        bucket = self._buckets.get(sender)
        if bucket is None:
            bucket = self._buckets[sender] = _Bucket(left=rate, at=now)
        bucket.left = min(rate, bucket.left + max(now - bucket.at, 0) * rate / MINUTE)
        bucket.at = now
        return bucket
