"""Read CODEOWNERS as GitHub, GitLab and Gitea do: whose files those of a change are; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from tocsin_contracts.owners import FileOwners
from tocsin_gitops.providers import HostType

_GITHUB = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
PLACES: Mapping[HostType, tuple[str, ...]] = {
    HostType.LOCAL: _GITHUB,
    HostType.GITHUB: _GITHUB,
    HostType.GITLAB: ("CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"),
    HostType.GITEA: ("CODEOWNERS", "docs/CODEOWNERS", ".gitea/CODEOWNERS"),
}
"""Where each forge looks, in its order; the first file there is counts."""

LARGEST = 3 * 1024 * 1024
"""Bytes of the largest file that forges read."""

_SECTION = re.compile(r"(?P<optional>\^?)\[(?P<name>[^\]]+)\](?:\[\d+\])?(?P<owners>.*)")
_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_OWNER = re.compile(r"@[\w./-]+|@@[\w-]+|[^\s@]+@[^\s@]+\.[^\s@]+")
_REPEATED = re.compile(r"(?<!\\)[*+{]")
_NESTED = re.compile(r"\)[*+?{]|\\[1-9]|\(\?")
_MOST_REPEATED, _LONGEST = 3, 300
"""Of a regular expression from a repository: more of either could take for ever to match."""


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: str
    owners: tuple[str, ...]
    section: str = ""


def owners(host: HostType, text: str, paths: Sequence[str]) -> tuple[FileOwners, ...]:
    """Return the owners of those of the paths that have any."""
    found = (_by_regex if host is HostType.GITEA else _by_glob)(host, text, paths)
    return tuple(found)


def _by_glob(host: HostType, text: str, paths: Sequence[str]) -> Iterator[FileOwners]:
    """In each section the last rule that matches counts; one without owners means: nobody's."""
    sections: dict[str, list[_Rule]] = {}
    for rule in _rules(text, sectioned=host is HostType.GITLAB):
        sections.setdefault(rule.section, []).append(rule)
    folders = host is not HostType.GITLAB
    for path in paths:
        for section, rules in sections.items():
            last = next((r for r in reversed(rules) if _is_match(r.pattern, path, folders)), None)
            if last and last.owners:
                yield FileOwners(path=path, owners=last.owners, section=section)


def _rules(text: str, *, sectioned: bool) -> Iterator[_Rule]:
    """Yield the rules in their order; what an optional section says is no rule."""
    section, counts = "", True
    usual: tuple[str, ...] = ()
    for words in _lines(text):
        header = _SECTION.fullmatch(" ".join(words)) if sectioned else None
        if header:
            section, counts = header["name"].strip().casefold(), not header["optional"]
            usual = _named(header["owners"].split())
        elif counts and not words[0].startswith("!"):
            yield _Rule(words[0], _named(words[1:]) or usual, section)
        elif counts and sectioned:
            yield _Rule(words[0][1:], (), section)


def _by_regex(host: HostType, text: str, paths: Sequence[str]) -> Iterator[FileOwners]:
    """Gitea asks the owners of every rule that matches the whole path, or does not after a `!`."""
    del host
    rules = [_Rule(words[0], _named(words[1:])) for words in _lines(text)]
    for path in paths:
        obscure = next((r.pattern for r in rules if _is_obscure(r.pattern)), "")
        if obscure:
            yield FileOwners(path=path, owners=(), section=f"rule {obscure[:40]} not understood")
        asked = [who for rule in rules if _is_whole(rule.pattern, path) for who in rule.owners]
        if asked:
            yield FileOwners(path=path, owners=tuple(dict.fromkeys(asked)))


def _lines(text: str) -> Iterator[list[str]]:
    """Yield the words of each line before its comment."""
    for line in text.splitlines():
        words = [re.sub(r"\\([ #])", r"\1", word) for word in _until_comment(line)]
        if words:
            yield words


def _until_comment(line: str) -> Iterator[str]:
    for word in _WORD.findall(line):
        if word.startswith("#"):
            return
        yield word


def _named(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words if _OWNER.fullmatch(word))


def _is_match(pattern: str, path: str, folders: bool) -> bool:
    """Whether a pattern is about a file; where `folders` may do without a slash at the end."""
    anchored = pattern.startswith("/") or (folders and "/" in pattern[:-1])
    steps = [step for step in pattern.strip("/").split("/") if step]
    if not anchored:
        steps = ["**", *steps]
    below = pattern.endswith("/") or (folders and steps[-1:] != ["*"])
    parts = tuple(path.split("/"))
    if _steps_match(tuple(steps), parts) and not pattern.endswith("/"):
        return True
    return below and _steps_match((*steps, "**", "*"), parts)


def _steps_match(steps: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    @cache
    def rest(step: int, part: int) -> bool:
        if step == len(steps):
            return part == len(parts)
        if steps[step] == "**":
            return rest(step + 1, part) or (part < len(parts) and rest(step, part + 1))
        literal = steps[step].replace("[", "[[]")
        return part < len(parts) and fnmatchcase(parts[part], literal) and rest(step + 1, part + 1)

    return rest(0, 0)


def _is_obscure(pattern: str) -> bool:
    bare = pattern.removeprefix("!")
    many = len(_REPEATED.findall(bare)) > _MOST_REPEATED
    if many or len(bare) > _LONGEST or _NESTED.search(bare):
        return True
    try:
        re.compile(bare)
    except re.error:
        return True
    return False


def _is_whole(pattern: str, path: str) -> bool:
    if _is_obscure(pattern):
        return False
    matches = bool(re.fullmatch(pattern.removeprefix("!"), path))
    return matches is not pattern.startswith("!")
