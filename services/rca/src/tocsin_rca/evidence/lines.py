"""The lines that programs and probes wrote, each bounded, with where they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.printed import Printed
from tocsin_contracts import EvidenceKind
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import LogText

LONGEST_LINE = 1500
MOST_LINES = 4000
NO_SPEECH = ("git", "argocd", "flux", "note")
"""Tools whose output is not about what a program met at run time."""

_INSIDE = ("exec", "run", "debug")
"""Verbs of kubectl that run a program in the cluster."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log or of what a probe printed; the pod is empty where nothing names it."""

    id: str
    text: str
    pod: str = ""
    of_log: bool = True


def lines(case: Case, *, checks: bool = True) -> Iterator[Line]:
    """Yield the lines of logs, then of checks, the same line of one text only once."""
    logs, printed = case.memo.once("lines", lambda: (tuple(_logged(case)), tuple(_printed(case))))
    yield from logs
    yield from printed if checks else ()


def _logged(case: Case) -> Iterator[Line]:
    for seen in case.observations:
        data = seen.data
        if isinstance(data, LogText):
            yield from _lines(seen.id, data.text, data.pod, of_log=True)


def _printed(case: Case) -> Iterator[Line]:
    for seen in case.observations:
        data = seen.data
        if isinstance(data, Printed) and _speaks(data, seen.evidence.kind):
            yield from _lines(seen.id, data.text, "", of_log=False)


def saying(case: Case, pattern: re.Pattern[str], *, checks: bool = True) -> tuple[Line, ...]:
    """Return the lines that match."""
    return tuple(line for line in lines(case, checks=checks) if pattern.search(line.text))


def ids_of(found: tuple[Line, ...]) -> tuple[str, ...]:
    """Return the evidence that lines stand in, each once."""
    return tuple(dict.fromkeys(line.id for line in found))


def quoted(line: Line, longest: int = 160) -> str:
    """Return a line as a sentence may quote it."""
    text = " ".join(line.text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _speaks(data: Printed, kind: EvidenceKind) -> bool:
    if kind is EvidenceKind.OUTPUT:
        return data.command.verb in _INSIDE
    return kind is EvidenceKind.CHECK and data.command.tool not in NO_SPEECH


def _lines(id_: str, text: str, pod: str, *, of_log: bool) -> Iterator[Line]:
    every = text.splitlines()
    half = MOST_LINES // 2
    kept = every if len(every) <= MOST_LINES else [*every[:half], *every[-half:]]
    for line in dict.fromkeys(line[:LONGEST_LINE] for line in kept):
        if line.strip():
            yield Line(id_, line, pod, of_log)
