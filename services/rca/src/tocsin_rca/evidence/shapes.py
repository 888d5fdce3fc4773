"""Lines of logs that say the same but for their numbers: one of each, and how many there are."""

import re
from collections.abc import Iterable

_LONGEST_SHAPE = 200
_NUMBERS = re.compile(r"[0-9a-fA-F]{4,}|\d+")


def distinct(lines: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return the first line of each shape, and how many lines have that shape."""
    alike: dict[str, list[str]] = {}
    for line in lines:
        alike.setdefault(_NUMBERS.sub("0", line[:_LONGEST_SHAPE]), []).append(line)
    return tuple((same[0], len(same)) for same in alike.values())


def clustered(text: str) -> str:
    """Return a text with one line of each shape, which says how many more are like it."""
    return "\n".join(
        f"{line} [and {count - 1} more like it]" if count > 1 and line.strip() else line
        for line, count in distinct(text.splitlines())
    )
