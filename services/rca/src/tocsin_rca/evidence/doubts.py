"""What speaks against an explanation, and how much of the confidence in it that costs."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Doubt:
    """One contradiction in words, and its weight between 0 and 1."""

    sentence: str
    weight: float


def weighed(confidence: float, doubts: Iterable[Doubt]) -> float:
    """Return the confidence that is left; never negative, two digits."""
    return round(max(0.0, confidence - sum(doubt.weight for doubt in doubts)), 2)


def explained(because: str, doubts: Iterable[Doubt]) -> str:
    """Return the reason with its doubts said aloud."""
    return " ".join((because, *(f"But {doubt.sentence}." for doubt in doubts))).strip()
