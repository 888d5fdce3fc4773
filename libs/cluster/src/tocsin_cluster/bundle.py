"""A folder of texts as people save them: which file holds what which command printed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.printed import Command, Printed, parse
from tocsin_cluster.reading.chained import apart
from tocsin_cluster.reading.wrapped import unwrapped
from tocsin_cluster.sanity import is_sane

INDEX = ("index.yaml", "index.yml")
_TEXTS = (".txt", ".log", ".out")
_OBJECTS = (".yaml", ".yml", ".json")
_COMMANDS = ("kubectl ", "kubectl_", "oc ", "k ")
LONGEST = 4_000_000
"""Characters of one text that are read."""

_PROMPT = "$ "
_LOGS = "logs"
_SHELL = re.compile(r"^\S{0,60}[$#>] ")
_PROMPTS = re.compile(
    r"^(?:\$ (?:kubectl|oc|k) |(?:[\w.@:~/-]{0,60}[$#>] )?kubectl (?:-n \S{1,63} )?"
    r"(?:get|describe|logs|top|apply|create|rollout|auth) ).*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Index:
    """What the index file says: the command of each file, and the namespace of commands."""

    commands: Mapping[str, str]
    namespace: str = ""


def is_text(path: Path, folder: Path) -> bool:
    """Whether a file holds what a command printed; logs in their own folder are not meant."""
    inside = path.relative_to(folder)
    if any(part.startswith(".") for part in inside.parts):
        return False
    if path.suffix == ".log":
        return inside.parts[0] != _LOGS
    return path.suffix in _TEXTS or path.name.startswith(_COMMANDS)


def is_index(path: Path, folder: Path) -> bool:
    """Whether a file is the index of the folder."""
    return path.parent == folder and path.name in INDEX


def read_index(path: Path) -> Index:
    """Read the index; ClusterError says what a right one looks like."""
    try:
        said = yaml.safe_load(path.read_bytes()) or {}
    except (yaml.YAMLError, ValueError, RecursionError, OSError) as error:
        raise ClusterError(f"cannot read {str(path)!r}: {error}") from error
    files: Any = said.get("files", {}) if isinstance(said, Mapping) and is_sane(said) else None
    if not isinstance(files, Mapping):
        raise ClusterError(
            f"{str(path)!r} is no index; write `namespace: NAME` and `files: {{FILE: COMMAND}}`"
        )
    commands = {str(file): str(command) for file, command in files.items()}
    return Index(commands, str(said.get("namespace") or ""))


def read_texts(path: Path, folder: Path, index: Index) -> Iterator[Printed]:
    """Yield the texts of one file: several, if it shows prompts and what came after each.

    Its command is in the index, in its first line after `$`, or its own name.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(LONGEST)
    except OSError as error:
        raise ClusterError(f"cannot read {str(path)!r}: {error}; ask again") from error
    inside = path.relative_to(folder).as_posix()
    first, _, rest = text.partition("\n")
    command = _named(path)
    if inside in index.commands:
        command = index.commands[inside]
    elif first.startswith(_PROMPT):
        command, text = first, rest
    yield from _apart(command, text)


def _apart(command: str, text: str) -> Iterator[Printed]:
    """Logs may show prompts of their own."""
    prompts = [] if parse(command).verb == "logs" else list(_PROMPTS.finditer(text))
    ends = [*(prompt.start() for prompt in prompts), len(text)]
    yield from _chained(command, text[: ends[0]])
    for prompt, end in zip(prompts, ends[1:], strict=True):
        asked = _plain(_SHELL.sub("", prompt[0]), command)
        yield from _chained(asked, text[prompt.end() : end].removeprefix("\n"))


def _chained(command: str, text: str) -> Iterator[Printed]:
    for one, printed in apart(command, unwrapped(text)):
        yield Printed.of(one, printed)


def _plain(asked: str, command: str) -> str:
    """Return what a prompt asked; where its names are variables, the command that has them."""
    of_prompt, given = parse(asked), parse(command)
    alike = (of_prompt.verb, of_prompt.kind) == (given.verb, given.kind)
    unknown = any("$" in name for name in of_prompt.names)
    return command if unknown and alike and given.names else asked


def home(printed: Iterable[Printed], index: Index, others: Iterable[str]) -> str:
    """Return the namespace that is meant where none is said.

    It is the one of the index, or else the only one that anything else names, or else `default`,
    as it is for kubectl.
    """
    said = {one for one in (*_namespaces(printed), *others) if one}
    return index.namespace or (said.pop() if len(said) == 1 else "default")


def _namespaces(printed: Iterable[Printed]) -> Iterator[str]:
    commands: Iterator[Command] = (one.command for one in printed)
    return (command.namespace for command in commands)


def _named(path: Path) -> str:
    """A name with underscores stands for a command whose words it keeps apart by them."""
    stem = path.stem if path.suffix in (*_TEXTS, *_OBJECTS) else path.name
    spaced = stem.replace("_", " ")
    return spaced if parse(spaced).of_kubectl and " " not in stem else stem
