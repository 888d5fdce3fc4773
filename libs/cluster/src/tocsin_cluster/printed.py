"""What a command printed about a cluster, and which command it was."""

import json
import shlex
from dataclasses import dataclass
from typing import Any

from tocsin_cluster.kinds import kind_of

_TOOLS = frozenset({"kubectl", "k", "oc", "kubecolor"})
_WITH_VALUE = frozenset(
    {
        *("-n", "--namespace", "-o", "--output", "-l", "--selector", "-c", "--container"),
        *("-L", "--label-columns", "--tail", "--since", "--since-time", "--context", "--cluster"),
        *("--field-selector", "--sort-by", "--kubeconfig", "-f", "--filename", "--for", "--as"),
        *("--types", "--limit-bytes", "--max-log-requests", "--request-timeout", "-s", "--server"),
    }
)
_LONG = {"-n": "--namespace", "-o": "--output", "-l": "--selector", "-c": "--container"}
_LONG |= {"-L": "--label-columns", "-A": "--all-namespaces", "-p": "--previous", "-w": "--watch"}
_GLUED = ("-n", "-o", "-l", "-c", "-L")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line as far as it says what was asked.

    `tool` is `kubectl` whatever it was called as. `kind` is the kind that was asked for, empty when
    it is not known or when there are several. `columns` are the labels that were asked for by name.
    Nothing is raised for a line that makes no sense.
    """

    text: str
    tool: str = ""
    verb: str = ""
    kind: str = ""
    names: tuple[str, ...] = ()
    namespace: str = ""
    container: str = ""
    output: str = ""
    columns: tuple[str, ...] = ()
    previous: bool = False
    everywhere: bool = False

    @property
    def of_kubectl(self) -> bool:
        """Whether it asked an API server."""
        return self.tool == "kubectl"


@dataclass(frozen=True, slots=True)
class Printed:
    """The text that a command printed. `data` is what it says when it is JSON, else None."""

    command: Command
    text: str
    data: Any = None

    @classmethod
    def of(cls, command: str, text: str) -> "Printed":
        """Return what a command line printed."""
        return cls(parse(command), text, _json(text))


def parse(line: str) -> Command:
    """Return what a command line asks; a prompt before it and a pipe behind it are left out."""
    line = line.strip().removeprefix("$").strip()
    words = _words(line)
    if not words or words[0].rsplit("/", 1)[-1] not in _TOOLS:
        return Command(line, tool=words[0] if words else "")
    flags, rest = _flags(words[1:])
    verb, *asked = rest or [""]
    kind, names = _asked(verb, asked)
    return Command(
        text=line,
        tool="kubectl",
        verb=verb,
        kind=kind,
        names=names,
        namespace=flags.get("--namespace", ""),
        container=flags.get("--container", ""),
        output=flags.get("--output", ""),
        columns=tuple(filter(None, flags.get("--label-columns", "").split(","))),
        previous="--previous" in flags,
        everywhere="--all-namespaces" in flags,
    )


def _words(line: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    ends = [i for i, word in enumerate(words) if word in ("|", ">", "&&", ";", "2>&1", "||")]
    kept = words[: ends[0]] if ends else words
    last = next((i for i, word in enumerate(kept) if word.endswith(";")), None)
    return kept if last is None else [*kept[:last], kept[last].rstrip(";")]


def _flags(words: list[str]) -> tuple[dict[str, str], list[str]]:
    flags: dict[str, str] = {}
    rest: list[str] = []
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            rest.append(word)
        elif name in _WITH_VALUE and not equals:
            flags[_LONG.get(name, name)] = next(left, "")
        elif name[:2] in _GLUED and not name.startswith("--") and len(name) > len("-n"):
            flags[_LONG[name[:2]]] = word[2:].removeprefix("=")
        else:
            flags[_LONG.get(name, name)] = value
    return flags, rest


def _asked(verb: str, words: list[str]) -> tuple[str, tuple[str, ...]]:
    if verb in ("events", "event"):
        return "Event", ()
    if verb == "logs":
        return _of_logs(words)
    first = words[0] if words else ""
    if "/" in first:
        kinds, _, names = zip(*(word.partition("/") for word in words), strict=True)
        return (kind_of(kinds[0]) if len(set(kinds)) == 1 else ""), names
    return kind_of(first), tuple(words[1:])


def _of_logs(words: list[str]) -> tuple[str, tuple[str, ...]]:
    kind, slash, name = words[0].partition("/") if words else ("", "", "")
    if slash:
        return kind_of(kind), (name,)
    return "Pod", tuple(words[:1])


def _json(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
