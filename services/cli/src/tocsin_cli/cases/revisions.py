"""The commits that lead to the manifests of a case, as far as its recorded git log says."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from tocsin_cli.cases.recorded import Recorded
from tocsin_cli.demo.history import Commit

_HEAD = re.compile(r"^commit [0-9a-z]{6,40}\b", re.MULTILINE)
_DATE = re.compile(r"^(?:Author|Commit)?Date:\s{1,8}(?P<date>\S.{5,40})$", re.MULTILINE)
_DIFF = re.compile(r"^(?:diff --git |index |--- |@@|[+-]| {5,40}\S)", re.MULTILINE)
"""Where a change begins; the message of a commit is indented by four."""

_QUOTED = re.compile(r"'(?P<subject>[^']+)'|\"(?P<other>[^\"]+)\"")
_INDENTED = re.compile(r"^ {4}(?P<subject>\S.*)$", re.MULTILINE)
_STEP = timedelta(minutes=10)
_DAY = timedelta(days=1)
_NEXT = re.compile(r"^(\+.*\n)(?=-)", re.MULTILINE)
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
    files, last = dict(case.manifests), _started(case)
    steps: list[Commit] = []
    for said, subject, hunks in _told(case):
        earlier = {file: _undone(text, hunks) for file, text in files.items()}
        if earlier != files:
            last = said if said and (not steps or said < last) else last - _STEP
            steps.append(_commit(last, subject, files))
            files = earlier
    steps.append(_commit(last - _DAY, "Add the manifests", files))
    return tuple(reversed(steps))


def _commit(at: datetime, subject: str, texts: Mapping[str, str]) -> Commit:
    files = {file: text.encode() for file, text in texts.items()}
    return Commit(team="team", at=at, subject=subject, files=files)


def _told(case: Recorded) -> Iterator[tuple[datetime | None, str, list[_Hunk]]]:
    """Yield the commits of the recorded logs, the newest first, with their time if they have one.

    What stands before the first line of a diff is about the commit, and no context of a change.
    """
    for item in case.evidence:
        if item.kind == "git_history" and item.text:
            starts = [head.start() for head in _HEAD.finditer(item.text)]
            for start, end in pairwise((*starts, len(item.text))):
                head, _, body = item.text[start:end].partition("\n")
                diff = _DIFF.search(body)
                at = diff.start() if diff else len(body)
                yield _date(body[:at]), _subject(head, body), list(_hunks(body[at:]))


def _date(head: str) -> datetime | None:
    found = _DATE.search(head)
    for read in (datetime.fromisoformat, _of_git):
        try:
            at = read(found["date"].strip()) if found else None
        except ValueError:
            continue
        return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at
    return None


def _of_git(text: str) -> datetime:
    return datetime.strptime(text, "%a %b %d %H:%M:%S %Y %z")


def _subject(head: str, body: str) -> str:
    quoted = _QUOTED.search(head)
    if quoted:
        return quoted["subject"] or quoted["other"]
    indented = _INDENTED.search(body)
    return indented["subject"] if indented else head


def _hunks(body: str) -> Iterator[_Hunk]:
    """Yield the changes; a line that goes right below one that comes begins another one."""
    body = _NEXT.sub(r"\1@@\n", body)
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
