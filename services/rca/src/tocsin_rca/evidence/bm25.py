"""Which of many texts fit a few words best: the ranking BM25, in memory."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable

_SATURATION, _LENGTH = 1.2, 0.75
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONG_ENOUGH = 3


def words(text: str) -> list[str]:
    """Return the words of a text in small letters; `KubePodDown` counts as its parts too.

    A plural is the same word as its singular, as far as an `s` tells.
    """
    found: list[str] = []
    for word in _WORD.findall(text):
        parts = _PART.findall(word) if word.isascii() else []
        found += dict.fromkeys(_plain(one) for one in (word, *parts))
    return found


class Index:
    """Texts, ready to be asked; what they are is known by their place alone."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._holding: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for place, text in enumerate(texts):
            counts = Counter(words(text))
            self._lengths.append(counts.total())
            for word, count in counts.items():
                self._holding[word].append((place, count))
        self._mean = sum(self._lengths) / max(1, len(self._lengths)) or 1.0

    def best(self, asked: str, limit: int) -> list[tuple[int, float]]:
        """Return the places of the texts that fit best, with their scores, the best first."""
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(set(words(asked))):
            holding = self._holding.get(word, [])
            others = len(self._lengths) - len(holding)
            rare = math.log(1 + (others + 0.5) / (len(holding) + 0.5))
            for place, count in holding:
                scores[place] += rare * self._share(place, count)
        ranked = sorted(scores.items(), key=lambda one: (-one[1], one[0]))
        return ranked[:limit]

    def _share(self, place: int, count: int) -> float:
        """How much a word counts: less each time it comes again, and less in a long text."""
        long = 1 - _LENGTH + _LENGTH * self._lengths[place] / self._mean
        return count * (_SATURATION + 1) / (count + _SATURATION * long)


def _plain(word: str) -> str:
    small = word.casefold()
    plural = len(small) > _LONG_ENOUGH and small.endswith("s") and not small.endswith("ss")
    return small.removesuffix("s") if plural else small
