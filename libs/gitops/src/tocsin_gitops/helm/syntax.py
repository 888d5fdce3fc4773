"""Read the text of a chart's template as a tree: text, actions, and blocks of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tocsin_gitops.yaml_nodes import EditRefused

_ACTION = re.compile(
    r"""\{\{(?P<left>-(?=\s))?(?P<code>\s*/\*.*?\*/\s*|(?:"(?:\\.|[^"\\])*"|`[^`]*`|[^"`])*?)"""
    r"(?P<right>(?<=\s)-)?\}\}",
    re.DOTALL,
)
_WORD = re.compile(
    r"""\s*(?:(?P<text>"(?:\\.|[^"\\])*"|`[^`]*`)|(?P<number>-?\d+(?:\.\d+)?)"""
    r"|(?P<path>\$\w*(?:\.\w+)*|(?:\.\w+)+|\.)|(?P<close>\)(?:\.\w+)*)"
    r"|(?P<sign>:=|[=|(,])|(?P<word>[A-Za-z_]\w*))"
)
_OPENS = ("if", "with", "range", "define", "block")


class Unreadable(EditRefused):
    """Nobody can tell here what a template makes of its values; the message says why."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of an action: what it is, and how it is written."""

    kind: str
    text: str


@dataclass(slots=True)
class Branch:
    """What is made when something holds; without words it is the last way out."""

    words: tuple[Word, ...]
    body: "list[Part]" = field(default_factory=list)


@dataclass(slots=True)
class Block:
    """An `if`, `with`, `range` or `define`, with its branches."""

    verb: str
    branches: list[Branch]


@dataclass(frozen=True, slots=True)
class Action:
    """What puts a value into the text."""

    words: tuple[Word, ...]
    code: str


Part = str | Action | Block


def read(text: str) -> list[Part]:
    """Return the parts of a template; Unreadable if it is none."""
    root = Branch(())
    open_: list[tuple[Block | None, Branch]] = [(None, root)]
    for piece in _pieces(text):
        if isinstance(piece, str):
            open_[-1][1].body.append(piece)
        else:
            _take(piece, open_)
    if len(open_) > 1:
        raise Unreadable("a block of the template has no end")
    return root.body


def _take(action: Action, open_: list[tuple[Block | None, Branch]]) -> None:
    verb, rest = action.words[0].text, action.words[1:]
    block = open_[-1][0]
    if verb in _OPENS:
        made = Block(verb, [Branch(rest)])
        open_[-1][1].body.append(made)
        open_.append((made, made.branches[0]))
    elif verb == "else" and block:
        further = rest[1:] if rest and rest[0].text in ("if", "with") else rest
        block.branches.append(Branch(further))
        open_[-1] = (block, block.branches[-1])
    elif verb == "end" and block:
        open_.pop()
    elif verb in ("else", "end", "break", "continue"):
        raise Unreadable(f"the template says {verb!r} where nobody follows it")
    else:
        open_[-1][1].body.append(action)


def _pieces(text: str) -> Iterator[str | Action]:
    at, trims = 0, False
    while (start := text.find("{{", at)) >= 0:
        found = _ACTION.match(text, start)
        if found is None:
            raise Unreadable("an action of the template has no end")
        before = text[at : found.start()]
        before = before.lstrip() if trims else before
        yield before.rstrip() if found["left"] else before
        code = found["code"].strip()
        if not code.startswith("/*"):
            yield Action(tuple(_words(code)), code)
        at, trims = found.end(), bool(found["right"])
    yield text[at:].lstrip() if trims else text[at:]


def _words(code: str) -> Iterator[Word]:
    at = 0
    while at < len(code):
        found = _WORD.match(code, at)
        if found is None or found.lastgroup is None:
            raise Unreadable(f"{code[:60]!r} is no action that is read here")
        yield Word(found.lastgroup, found[found.lastgroup])
        at = found.end()
        at += len(code[at:]) - len(code[at:].lstrip())
    if not code:
        raise Unreadable("the template has an empty action")
