"""Any words are looked for in a folder of knowledge, section by section, by how well they fit."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.untrusted import clean, line
from tocsin_rca.evidence.bm25 import Index
from tocsin_rca.ports import Runbook
from tocsin_rca.sources import knowledge
from tocsin_rca.sources.knowledge import MOST_CHARS, KnowledgeFolder

MOST_BYTES = 16 * 1024 * 1024
"""Of all files: an index takes some ten times as much memory."""

LONGEST_SECTION = 3000
LONGEST_PASSAGE = 1200
_HEADING = re.compile(r"#{1,6}\s+(?P<words>\S.*)")
_FENCE = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a file that fits what was asked; more is better."""

    file: str
    heading: str
    line: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Passages:
    """What fits best, out of how many sections, and how many files were too many to search."""

    found: tuple[Passage, ...]
    sections: int
    left_out: int


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of a file below one heading, and the number of its first line."""

    file: str
    heading: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class _Known:
    """The sections as they were when the folder looked like `seen`."""

    seen: tuple[tuple[str, int, int], ...]
    sections: tuple[_Section, ...]
    index: Index
    left_out: int


class KnowledgeSearch:
    """Searches a folder as it is when asked; what has not changed is read once."""

    source = "knowledge"

    def __init__(self, folder: KnowledgeFolder) -> None:
        self._folder = folder
        self._known: _Known | None = None
        self._alone = asyncio.Lock()

    async def find(self, words: str, limit: int) -> Passages:
        """Return the sections that fit best; TransientError if the folder cannot be read."""
        async with self._alone:
            try:
                known = await asyncio.to_thread(self._now)
            except OSError as error:
                raise TransientError(f"the knowledge cannot be read: {error.strerror}") from error
        best = known.index.best(words, limit)
        found = tuple(_passage(known.sections[place], score) for place, score in best)
        return Passages(found, len(known.sections), known.left_out)

    async def read(self, file: str) -> Runbook:
        """Return one file; PermanentError for any that the folder does not have."""
        try:
            return await asyncio.to_thread(self._read, file)
        except OSError as error:
            raise TransientError(f"{line(file)!r} cannot be read: {error.strerror}") from error

    def _read(self, file: str) -> Runbook:
        for path in self._folder.files():
            if self._folder.named(path) == file:
                return Runbook(file, clean(knowledge.read(path), MOST_CHARS).text)
        raise PermanentError(f"the knowledge has no file {line(file)!r}; search to see which")

    def _now(self) -> _Known:
        files, left_out = self._within()
        seen = tuple(
            (str(path), stat.st_mtime_ns, stat.st_size)
            for path, stat in ((path, path.stat()) for path in files)
        )
        if self._known is None or self._known.seen != seen:
            sections = tuple(one for path in files for one in self._sections(path))
            index = Index(f"{one.file} {one.heading} {one.heading}\n{one.text}" for one in sections)
            self._known = _Known(seen, sections, index, left_out)
        return self._known

    def _within(self) -> tuple[list[Path], int]:
        """Return the files that are searched, and how many more there are."""
        room, files, left_out = MOST_BYTES, list[Path](), 0
        for path in self._folder.files():
            room -= path.stat().st_size
            if room >= 0:
                files.append(path)
            else:
                left_out += 1
        return files, left_out

    def _sections(self, path: Path) -> Iterator[_Section]:
        file, text = self._folder.named(path), knowledge.read(path)
        return _sections(file, text)


def _sections(file: str, text: str) -> Iterator[_Section]:
    """Cut a text at its headings, but for those in blocks of code, and where it is too long."""
    heading, begin, rows, fenced = "", 1, list[str](), False
    for number, row in enumerate(text.split("\n"), 1):
        fenced ^= row.lstrip().startswith(_FENCE)
        title = None if fenced else _HEADING.fullmatch(row.rstrip())
        if title or sum(map(len, rows)) > LONGEST_SECTION:
            yield from _filled(_Section(file, heading, begin, "\n".join(rows)))
            begin, rows = number, []
        if title:
            heading = title["words"].strip("# ")
        rows.append(row)
    yield from _filled(_Section(file, heading, begin, "\n".join(rows)))


def _filled(section: _Section) -> Iterator[_Section]:
    if section.text.strip():
        yield section


def _passage(section: _Section, score: float) -> Passage:
    return Passage(
        file=section.file,
        heading=line(section.heading),
        line=section.line,
        text=clean(section.text, LONGEST_PASSAGE).text.strip(),
        score=score,
    )
