"""Chance that a seed decides: the same faults for the same seed, on every machine and Python."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_MOST = 2**64


class Chance:
    """Numbers that follow from a seed and from how many were drawn before."""

    def __init__(self, seed: object) -> None:
        self._seed = str(seed)
        self._drawn = 0

    def number(self) -> float:
        """Return a number from 0 up to 1."""
        self._drawn += 1
        named = f"{self._seed}:{self._drawn}".encode()
        return int.from_bytes(hashlib.blake2b(named, digest_size=8).digest()) / _MOST

    def uniform(self, least: float, most: float) -> float:
        """Return a number between two others."""
        return least + (most - least) * self.number()

    def happens(self, probability: float) -> bool:
        """Whether something of a probability happens now."""
        return self.number() < probability

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[int(self.number() * len(options))]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """Return the options in any order."""
        return sorted(options, key=lambda _: self.number())
