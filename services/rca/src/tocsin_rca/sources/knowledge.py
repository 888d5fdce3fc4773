"""Runbooks in a folder of text files, found by what an alert is called; read only."""

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import yaml

from tocsin_contracts import Alert
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.untrusted import clean
from tocsin_rca.evidence.runbook_links import last_words, runbook_links
from tocsin_rca.ports import Runbook

SUFFIXES = (".md", ".markdown", ".txt")
MOST_FILES = 1000
MOST_FOUND = 3
MOST_CHARS = 16_000
_MOST_BYTES = 256 * 1024
_MOST_HEAD = 4096
_FENCE = "---\n"
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class _File:
    """A file, and how well it fits: less is better."""

    rank: int
    path: Path
    text: str


class KnowledgeFolder:
    """A folder, as it is when asked; PermanentError at once if there is none.

    A file is about an alert if it is called as the alert or as the last step of its runbook link,
    or if its front matter names the alert under `alerts`, or its workload under `workloads`.
    """

    source = "knowledge"

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise PermanentError(f"TOCSIN_KNOWLEDGE_DIR: there is no folder {str(folder)!r}")
        self._folder = folder.resolve()

    async def about(self, alert: Alert) -> tuple[Runbook, ...]:
        """Return what was written about it; TransientError if the folder cannot be read."""
        try:
            return await asyncio.to_thread(self._about, alert)
        except OSError as error:
            raise TransientError(f"cannot read {str(self._folder)!r}: {error}") from error

    def _about(self, alert: Alert) -> tuple[Runbook, ...]:
        found = sorted(self._fitting(alert), key=lambda one: (one.rank, str(one.path)))
        return tuple(
            Runbook(self.named(one.path), clean(one.text, MOST_CHARS).text)
            for one in found[:MOST_FOUND]
        )

    def _fitting(self, alert: Alert) -> Iterator[_File]:
        titles = _names([alert.title])
        linked = _names(word for link in runbook_links(alert) for word in last_words(link))
        workload = alert.workload
        names = [workload.name, f"{workload.namespace}/{workload.name}"] if workload else []
        workloads = _names(names)
        for path in self.files():
            said, body = front_matter(read(path))
            called = _names([path.stem])
            fits = (
                called & titles or _listed(said, "alerts") & titles,
                called & linked,
                _listed(said, "workloads") & workloads,
            )
            rank = next((rank for rank, fit in enumerate(fits) if fit), None)
            if rank is not None:
                yield _File(rank, path, body)

    def named(self, path: Path) -> str:
        """Return what a file is called: its place in the folder."""
        return str(path.relative_to(self._folder))

    def files(self) -> Iterable[Path]:
        """Return the first files; a link that leads out of the folder is none of them."""
        paths = (path for path in sorted(self._folder.rglob("*")) if path.suffix in SUFFIXES)
        inside = (p for p in paths if p.is_file() and p.resolve().is_relative_to(self._folder))
        return islice(inside, MOST_FILES)


def read(path: Path) -> str:
    """Return the beginning of a file as text."""
    with path.open("rb") as file:
        return file.read(_MOST_BYTES).decode(errors="replace").replace("\r\n", "\n")


def front_matter(text: str) -> tuple[dict[str, object], str]:
    """Return what a file says of itself, and the rest; a head that is no table says nothing."""
    end = text.find(f"\n{_FENCE}", 0, _MOST_HEAD)
    if not text.startswith(_FENCE) or end < 0:
        return {}, text
    try:
        said = yaml.load(text[len(_FENCE) : end + 1], Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    return (said, text[end + 1 + len(_FENCE) :]) if isinstance(said, dict) else ({}, text)


def _listed(said: dict[str, object], name: str) -> set[str]:
    value = said.get(name)
    listed = value if isinstance(value, list) else [value]
    return _names(one for one in listed if isinstance(one, str))


def _names(words: Iterable[str]) -> set[str]:
    """Return the words as they are compared: in small letters, without anything between them."""
    return {plain for word in words if (plain := _NO_WORD.sub("", word.casefold()))}
