"""Tell apart what several commands printed that somebody saved as one text."""

import re
from collections.abc import Iterator

from tocsin_cluster.printed import parse
from tocsin_cluster.reading.tables import is_header

_BETWEEN = re.compile(r"\s{0,9}(?:;|&&)\s{0,9}| / ")
_VERBS = ("get", "describe", "logs", "top", "events", "apply", "create", "rollout", "auth", "exec")
_SEVERAL = 2
_NO_SPEECH = re.compile(
    r"\s{0,40}(?:(?:Warning|Normal)\s|Events:|[{\[]\"|\S{1,60}:\s{2,}\S|<\.\.\.>)"
)


def apart(command: str, text: str) -> tuple[tuple[str, str], ...]:
    """Return commands with what they printed, just the pair that was given if there is no chain.

    Logs are what is in no table, event or field; beside a description, tables are for themselves.
    """
    chain = [one for one in _chain(command) if parse(one).of_kubectl]
    logs = [one for one in chain if parse(one).verb == "logs"]
    others = [one for one in chain if one not in logs]
    if len(chain) < _SEVERAL or not others:
        return ((command, text),)
    said = "\n".join(_speech(text)) if logs else ""
    return (*_shown(others, text), *(((logs[0], said),) if said.strip() else ()))


def _shown(commands: list[str], text: str) -> Iterator[tuple[str, str]]:
    """Yield the tables, whose kinds their columns tell if several were asked for, and the rest."""
    asked = [one for one in commands if parse(one).verb == "get"]
    described = next((one for one in commands if parse(one).verb == "describe"), "")
    tables, rest = _tables(text)
    if not tables.strip() or len(commands) < _SEVERAL:
        yield (described or commands[0]), text
        return
    namespace = next(filter(None, (parse(one).namespace for one in commands)), "")
    yield (
        asked[0] if len(asked) == 1 else f"kubectl get -n {namespace}".removesuffix(" -n "),
        tables,
    )
    if rest.strip():
        yield (described or commands[0]), rest


def _tables(text: str) -> tuple[str, str]:
    inside: tuple[list[str], list[str]] = ([], [])
    in_table = False
    for line in text.splitlines():
        in_table = is_header(line) or (in_table and bool(line.strip()))
        inside[not in_table].append(line)
        if not line.strip():
            inside[0].append("")
    tables, rest = map("\n".join, inside)
    return tables, rest


def _chain(command: str) -> Iterator[str]:
    for part in _BETWEEN.split(command):
        words = part.split()
        if words:
            yield f"kubectl {part}" if words[0] in _VERBS else part


def _speech(text: str) -> Iterator[str]:
    """Yield the lines that stand in no table and are no events and no fields."""
    _, rest = _tables(text)
    yield from (line for line in rest.splitlines() if not _NO_SPEECH.match(line))
