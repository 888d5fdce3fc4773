"""The commits that lead to the manifests of a case, as far as its recorded git log says."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from tocsin_cli.cases.recorded import Recorded
from tocsin_cli.demo.history import Commit

_HEAD = re.compile(r"^commit [0-9a-f]{7,40}\b", re.MULTILINE)
_QUOTED = re.compile(r"'(?P<subject>[^']+)'|\"(?P<other>[^\"]+)\"")
_INDENTED = re.compile(r"^ {4}(?P<subject>\S.*)$", re.MULTILINE)
_STEP = timedelta(minutes=10)
_DAY = timedelta(days=1)
_SIGNS = re.compile(r"^(?:\+\+\+|---|@@|diff |index )")


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Lines before and after; context is in both."""

    before: tuple[str, ...]
    after: tuple[str, ...]


def commits(case: Recorded) -> tuple[Commit, ...]:
    """Return the commits, the oldest first; the last one leaves exactly the case's manifests.

    A change that the log shows and the manifests do not is passed over.
    """
    files, found = dict(case.manifests), list[tuple[str, dict[str, str]]]()
    for subject, hunks in _told(case):
        earlier = {file: _undone(text, hunks) for file, text in files.items()}
        if earlier != files:
            found.append((subject, files))
            files = earlier
    first = ("Add the manifests", files)
    end = _started(case)
    steps = [(end - _STEP * (n + 1), one) for n, one in enumerate(found)]
    steps.append((end - _STEP * len(found) - _DAY, first))
    return tuple(_commit(at, subject, texts) for at, (subject, texts) in reversed(steps))


def _commit(at: datetime, subject: str, texts: Mapping[str, str]) -> Commit:
    files = {file: text.encode() for file, text in texts.items()}
    return Commit(team="team", at=at, subject=subject, files=files)


def _told(case: Recorded) -> Iterator[tuple[str, list[_Hunk]]]:
    """Yield the commits of the recorded logs, the newest first."""
    for item in case.evidence:
        if item.kind == "git_history" and item.text:
            starts = [head.start() for head in _HEAD.finditer(item.text)]
            for start, end in pairwise((*starts, len(item.text))):
                head, _, body = item.text[start:end].partition("\n")
                yield _subject(head, body), list(_hunks(body))


def _subject(head: str, body: str) -> str:
    quoted = _QUOTED.search(head)
    if quoted:
        return quoted["subject"] or quoted["other"]
    indented = _INDENTED.search(body)
    return indented["subject"] if indented else head


def _hunks(body: str) -> Iterator[_Hunk]:
    before, after = list[str](), list[str]()
    for line in (*body.splitlines(), "@@"):
        if _SIGNS.match(line) or line[:1] not in ("+", "-", " "):
            if before != after and after:
                yield _Hunk(tuple(before), tuple(after))
            before, after = [], []
            continue
        before += [line[1:]] if line[0] in "- " else []
        after += [line[1:]] if line[0] in "+ " else []


def _undone(text: str, hunks: list[_Hunk]) -> str:
    lines = text.splitlines(keepends=True)
    for hunk in hunks:
        place = _place(lines, hunk.after)
        if place is not None:
            lead = _lead(lines[place])
            shift = len(lead) - len(_lead(hunk.after[0]))
            lines[place : place + len(hunk.after)] = [
                f"{_moved(line, shift)}\n" for line in hunk.before
            ]
    return "".join(lines)


def _place(lines: list[str], wanted: tuple[str, ...]) -> int | None:
    """Where the lines stand, whatever their indentation; None unless it is exactly one place."""
    bare = [line.strip() for line in lines]
    look = [line.strip() for line in wanted]
    found = [i for i in range(len(bare) - len(look) + 1) if bare[i : i + len(look)] == look]
    return found[0] if len(found) == 1 else None


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _moved(line: str, shift: int) -> str:
    return " " * shift + line if shift >= 0 else line[min(-shift, len(_lead(line))) :]


def _started(case: Recorded) -> datetime:
    try:
        started = datetime.fromisoformat(str(case.alert.get("startsAt")))
    except ValueError:
        return datetime(2026, 1, 1, tzinfo=UTC)
    return started if started.tzinfo else started.replace(tzinfo=UTC)
