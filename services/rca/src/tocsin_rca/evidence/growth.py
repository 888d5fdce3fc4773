"""Whether a log tells of memory that only ever grows, which no limit cures."""

import re

_MEMORY = re.compile(
    r"(?i)\b(?:memory|mem|heap|rss)\w*[^0-9\n]{1,24}?(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmg])i?b?\b"
)
_UNITS = {"k": 1, "m": 1024, "g": 1024**2}
_STEPS = 4


def only_grows(log: str) -> bool:
    """Whether the memory a log reports takes at least four steps up, none down, and doubles."""
    sizes = [
        float(found["number"]) * _UNITS[found["unit"].lower()] for found in _MEMORY.finditer(log)
    ]
    steps = list(dict.fromkeys(sizes))
    return len(steps) > _STEPS and sizes == sorted(sizes) and steps[-1] >= 2 * steps[0]
