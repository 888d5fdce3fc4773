"""Tell apart what several commands printed that somebody saved as one text."""

import re
from collections.abc import Iterator

from tocsin_cluster.printed import parse
from tocsin_cluster.reading.tables import is_header

_BETWEEN = re.compile(r"\s{0,9}(?:;|&&)\s{0,9}| / ")
_VERBS = ("get", "describe", "logs", "top", "events", "apply", "create", "rollout", "auth", "exec")
_NO_SPEECH = re.compile(
    r"\s{0,40}(?:(?:Warning|Normal)\s|Events:|[{\[]\"|\S{1,60}:\s{2,}\S|<\.\.\.>)"
)


def apart(command: str, text: str) -> tuple[tuple[str, str], ...]:
    """Return commands with what they printed, just the pair that was given if there is no chain.

    A text that holds logs and something else comes twice: as that, and without its tables, events
    and fields as a log.
    """
    chain = [*_chain(command)]
    others = [one for one in chain if parse(one).verb != "logs"]
    if not others or len(others) == len(chain):
        return ((command, text),)
    logs = next(one for one in chain if parse(one).verb == "logs")
    said = "\n".join(_speech(text))
    return ((others[0], text), *(((logs, said),) if said.strip() else ()))


def _chain(command: str) -> Iterator[str]:
    for part in _BETWEEN.split(command):
        words = part.split()
        if words:
            yield f"kubectl {part}" if words[0] in _VERBS else part


def _speech(text: str) -> Iterator[str]:
    """Yield the lines that stand in no table and are no events and no fields."""
    in_table = False
    for line in text.splitlines():
        in_table = is_header(line) or (in_table and bool(line.strip()))
        if not in_table and not _NO_SPEECH.match(line):
            yield line
