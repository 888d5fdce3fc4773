"""Read the tables that kubectl prints, by the offsets of their headers."""

import re
from collections.abc import Iterator, Sequence

Row = dict[str, str]

_HEADER = re.compile(
    r"^\s*[A-Z][A-Z0-9()%\-/]*(?: [A-Z0-9()%\-/]+)*(?:\s{1,}[A-Z][A-Z0-9()%\-/ a-z]*)*\s*$"
)
_NAME = re.compile(r"\S+(?: \S+)*")
_GAP = re.compile(r"\s{2,}|\t")
_KNOWN = ("NAME", "NAMESPACE", "LAST SEEN", "POD", "CONTAINER", "RESOURCE")
"""What the first column of a table may be called."""


def rows(text: str) -> Iterator[Row]:
    """Yield each row as a mapping from header to cell; text that is no table yields nothing.

    Cells that hold what kubectl writes for nothing, `<none>`, are kept as they are.
    """
    columns: list[re.Match[str]] = []
    for line in text.splitlines():
        if is_header(line):
            columns = list(_NAME.finditer(line))
        elif columns and line.strip():
            yield _row(line, columns)
        elif not line.strip():
            columns = []


def is_header(line: str) -> bool:
    """Whether a line is the header of a table."""
    words = _NAME.findall(line)
    return bool(words) and words[0] in _KNOWN and _HEADER.match(line) is not None


def _row(line: str, columns: Sequence[re.Match[str]]) -> Row:
    names = [column[0].strip() for column in columns]
    cells = _GAP.split(line.strip(), maxsplit=len(names) - 1)
    if len(cells) == len(names):
        return dict(zip(names, cells, strict=True))
    starts = [_boundary(line, column.start()) for column in columns]
    ends = [*starts[1:], len(line)]
    pieces = zip(starts, ends, strict=True)
    return dict(zip(names, (line[start:end].strip() for start, end in pieces), strict=True))


def _boundary(line: str, start: int) -> int:
    """Where a cell really begins: one that is longer than its header pushes the next ones on."""
    if start == 0 or start >= len(line) or line[start - 1].isspace():
        return min(start, len(line))
    return line.rfind(" ", 0, start) + 1
