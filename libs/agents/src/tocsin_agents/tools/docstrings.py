"""What the docstring of a function tells a model: what it does, and what each argument means."""

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_ENTRY = re.compile(r"(?P<name>\w+)(?: \([^)]*\))?:\s*(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Doc:
    """A docstring without its Args section, and that section by argument."""

    text: str
    arguments: Mapping[str, str]


def read(docstring: str) -> Doc:
    """Read a docstring whose arguments stand indented under `Args:`, one a paragraph."""
    lines = inspect.cleandoc(docstring).splitlines()
    if "Args:" not in lines:
        return Doc("\n".join(lines).strip(), {})
    start = lines.index("Args:")
    end = start + 1
    while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
        end += 1
    text = "\n".join(lines[:start] + lines[end:]).strip()
    return Doc(text, _entries(lines[start + 1 : end]))


def _entries(lines: Sequence[str]) -> dict[str, str]:
    section = inspect.cleandoc("\n" + "\n".join(lines)).splitlines()
    entries: dict[str, str] = {}
    name = ""
    for line in section:
        found = _ENTRY.fullmatch(line)
        if found:
            name = found["name"]
            entries[name] = found["text"]
        elif line and name:
            entries[name] = f"{entries[name]} {line.strip()}".strip()
    return entries
