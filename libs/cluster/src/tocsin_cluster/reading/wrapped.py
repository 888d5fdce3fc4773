"""Put sentences together again that were wrapped when somebody pasted them."""

import re
from collections.abc import Iterator

_WORDS = (
    r"(?:(?:Warning|Normal)\s{1,20}[A-Z]\w{2,60}(?:\s|$)|Error from server|error: "
    r"|[EWF]\d{4} \d\d:\d\d:\d\d)"
)
_BEGINS = re.compile(rf"\s*{_WORDS}")
_ANYWHERE = re.compile(_WORDS)
_ENDS = re.compile(
    r"\s*(?:(?:Warning|Normal)\s|[A-Za-z][\w /()-]{0,40}:(?:\s{2,}|$)|\$ |kubectl |[-=]{3}"
    r"|\S{1,60}: +\S+$"
    r"|[IEWFD]\d{4} |\[?\d{4}[-/]\d\d[-/]\d\d|[{\[]\"|at |goroutine |NAME |Error from server)"
)
_OF_KLOG = re.compile(r"[EWF]\d{4} ")
_MOST_LINES = 12
_ROW = re.compile(r"\S+(?:\s{2,}\S+){3,}")


def unwrapped(text: str) -> str:
    """Return a text in which each event and each refusal of a server stands on one line."""
    if not _ANYWHERE.search(text):
        return text
    return "\n".join(_joined(text.splitlines()))


def _joined(lines: list[str]) -> Iterator[str]:
    held, taken = "", 0
    for line in lines:
        if held and taken < _MOST_LINES and _goes_on(held, line):
            held, taken = f"{held} {line.strip()}", taken + 1
            continue
        if held:
            yield held
        held, taken = "", 0
        if _BEGINS.match(line):
            held = line
        else:
            yield line
    if held:
        yield held


def _goes_on(held: str, line: str) -> bool:
    if not line.strip() or _ENDS.match(line) or _BEGINS.match(line):
        return False
    indented = line[0].isspace()
    if _OF_KLOG.match(held):
        return indented
    return indented or not _ROW.match(line)
