"""Read the tables that kubectl prints, by the offsets of their headers."""

import re
from collections.abc import Iterator
from itertools import pairwise

Row = dict[str, str]

_UNIT = re.compile(r"\([a-z]{1,20}\)")
_NAME = re.compile(r"\S+(?: \S+)*")
_GAP = re.compile(r"\s{2,}|\t")
_KNOWN = ("NAME", "NAMESPACE", "LAST SEEN", "POD", "CONTAINER", "RESOURCE")
"""What the first column of a table may be called."""


def rows(text: str) -> Iterator[Row]:
    """Yield each row as a mapping from header to cell; text that is no table yields nothing.

    Cells that hold what kubectl writes for nothing, `<none>`, are kept as they are.
    """
    header = ""
    for line in text.splitlines():
        if is_header(line):
            header = line
        elif not line.strip():
            header = ""
        elif header:
            yield dict(zip(_NAME.findall(header), cells(line, header), strict=True))


def is_header(line: str) -> bool:
    """Whether a line is the header of a table."""
    words = _NAME.findall(line)
    plain = _UNIT.sub("", line)
    return bool(words) and words[0] in _KNOWN and plain == plain.upper()


def cells(line: str, header: str) -> list[str]:
    """Return the cells of a line below a header: by the gaps between them, else by its offsets."""
    columns = list(_NAME.finditer(header))
    found = _GAP.split(line.strip(), maxsplit=len(columns) - 1)
    if len(found) == len(columns):
        return found
    starts = [_boundary(line, column.start()) for column in columns]
    return [line[a:b].strip() for a, b in pairwise((*starts, len(line)))]


def _boundary(line: str, start: int) -> int:
    """Where a cell really begins: one that is longer than its header pushes the next ones on."""
    if start == 0 or start >= len(line) or line[start - 1].isspace():
        return min(start, len(line))
    return line.rfind(" ", 0, start) + 1
