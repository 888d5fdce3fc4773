"""Work a template out with the values of a release, as far as it can be followed here."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tocsin_contracts import FieldPath
from tocsin_gitops.helm import functions
from tocsin_gitops.helm.marked import Hidden, Ledger, Val
from tocsin_gitops.helm.syntax import Action, Block, Part, Unreadable, Word

_MOST_STEPS = 100_000
_DEEPEST = 64
_LONGEST = 2_000_000
"""Characters of a text."""
_LITERALS = {"true": True, "false": False, "nil": None}
_HELPERS = ("include", "template")


@dataclass(slots=True)
class Scope:
    """What the dot and the variables mean; those of the scopes around count too."""

    dot: Val
    names: dict[str, Val]
    outer: "Scope | None" = None

    def find(self, name: str) -> Val:
        """Return what a variable holds."""
        scope = self._of(name)
        return scope.names[name]

    def assign(self, name: str, value: Val) -> None:
        """Change a variable where it was made."""
        self._of(name).names[name] = value

    def inner(self, dot: Val) -> "Scope":
        """Return a scope within this one."""
        return Scope(dot, {}, self)

    def _of(self, name: str) -> "Scope":
        scope: Scope | None = self
        while scope and name not in scope.names:
            scope = scope.outer
        if scope is None:
            raise Unreadable(f"nothing sets {name!r}")
        return scope


@dataclass(slots=True)
class Evaluation:
    """One working out: `helpers` by name, and which values left blocks out by being nothing."""

    helpers: Mapping[str, Sequence[Part] | None]
    ledger: Ledger
    skipped: list[FieldPath] = field(default_factory=list)
    _steps: int = 0
    _depth: int = 0

    def text(self, parts: Sequence[Part], root: Val) -> str:
        """Return the text of a template, with marks; Unreadable if it cannot be followed."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unreadable("the helpers of the chart call each other without an end")
        made = "".join(self._made(parts, Scope(root, {"$": root})))
        self._refuse_long(made)
        self._depth -= 1
        return made

    def _made(self, parts: Sequence[Part], scope: Scope) -> Iterator[str]:
        for part in parts:
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise Unreadable("the template makes too much to follow")
            if isinstance(part, str):
                yield part
            elif isinstance(part, Action):
                yield self._acted(part, scope)
            elif part.verb != "define":
                yield from self._block(part, scope)

    def _acted(self, action: Action, scope: Scope) -> str:
        first, *rest = action.words
        if first.text.startswith("$") and rest and rest[0].text in (":=", "="):
            value = self._value(tuple(rest[1:]), scope)
            if rest[0].text == "=":
                scope.assign(first.text, value)
            else:
                scope.names[first.text] = value
            return ""
        return self.ledger.put(self._value(action.words, scope))

    def _block(self, block: Block, scope: Scope) -> Iterator[str]:
        follow = {"if": self._if, "with": self._if, "range": self._range}.get(block.verb)
        if follow is None:
            raise Unreadable(f"{block.verb!r} is not followed here")
        yield from follow(block, scope)

    def _if(self, block: Block, scope: Scope) -> Iterator[str]:
        for branch in block.branches:
            inner = scope.inner(scope.dot)
            if branch.words:
                value = self._value(self._named(branch.words, inner), inner)
                self._note(value)
                if not self.ledger.opened(value).holds:
                    continue
                if block.verb == "with":
                    inner.dot = value
                inner.names = dict.fromkeys(inner.names, value)
            yield from self._made(branch.body, inner)
            return

    def _range(self, block: Block, scope: Scope) -> Iterator[str]:
        first, *others = block.branches
        names, words = _ranged(first.words)
        value = self._value(words, scope)
        self._note(value)
        if not value.holds:
            yield from (text for one in others for text in self._made(one.body, scope))
            return
        if not isinstance(value.data, Mapping | list):
            raise Unreadable("a template goes through what is neither a list nor a mapping")
        for key, child in value.children():
            inner = scope.inner(child)
            inner.names = dict(zip(names[::-1], (child, Val(key)), strict=False))
            yield from self._made(first.body, inner)

    def _note(self, value: Val) -> None:
        empty = not isinstance(value.data, Hidden) and not value.data
        if empty and value.origin is not None:
            self.skipped.append(value.origin)

    def _named(self, words: tuple[Word, ...], scope: Scope) -> tuple[Word, ...]:
        if len(words) > 1 and words[1].text == ":=":
            scope.names[words[0].text] = Val(None)
            return words[2:]
        return words

    def _value(self, words: tuple[Word, ...], scope: Scope) -> Val:
        """Work out a pipeline: each command gets what the one before made as its last argument."""
        last: list[Val] = []
        for command in _split(words):
            last = [self._command(command, scope, last)]
        return last[0]

    def _command(self, words: Sequence[Word], scope: Scope, last: list[Val]) -> Val:
        if not words:
            raise Unreadable("a pipeline of the template has an empty part")
        first = words[0]
        if first.kind == "word" and first.text not in _LITERALS:
            return self._called(first.text, list(_arguments(words[1:])), scope, last)
        terms = list(_arguments(words))
        if len(terms) > 1 or last:
            return Val(Hidden(" ".join(word.text for word in words)))
        return self._term(terms[0], scope)

    def _called(
        self, name: str, terms: list[tuple[Word, ...]], scope: Scope, last: list[Val]
    ) -> Val:
        if name in ("and", "or"):
            return self._logic(name, terms, scope)
        args = [*(self._term(one, scope) for one in terms), *last]
        if name in _HELPERS:
            return self._included(args)
        made = functions.call(name, self.ledger, args)
        self._refuse_long(made.data)
        return made

    def _refuse_long(self, made: object) -> None:
        if isinstance(made, str) and len(made) > _LONGEST:
            raise Unreadable("the template makes too long a text to follow")

    def _logic(self, name: str, terms: list[tuple[Word, ...]], scope: Scope) -> Val:
        value = Val(None)
        for one in terms:
            value = self.ledger.opened(self._term(one, scope))
            if value.holds is (name == "or"):
                self._note(value)
                return value
        return value

    def _included(self, args: list[Val]) -> Val:
        name = self.ledger.opened(args[0]).data if args else None
        body = self.helpers.get(name) if isinstance(name, str) else None
        if body is None:
            return Val(Hidden(f"the helper {name!r}, which the chart itself does not define"))
        return Val(self.text(body, args[1] if len(args) > 1 else Val(None)))

    def _term(self, words: tuple[Word, ...], scope: Scope) -> Val:
        first = words[0]
        if first.text == "(":
            inner = self._value(words[1:-1], scope)
            return _followed(inner, words[-1].text[1:], self.ledger.opened)
        if first.kind == "path":
            name, dot, rest = first.text.partition(".")
            start = scope.find(name) if name else scope.dot
            return _followed(start, dot + rest if rest else "", self.ledger.opened)
        known = _literal(first)
        return self._called(first.text, [], scope, []) if known is None else known


def _followed(value: Val, way: str, opened: Callable[[Val], Val]) -> Val:
    for step in filter(None, way.split(".")):
        value = opened(value).child(step)
    return value


def _literal(word: Word) -> Val | None:
    if word.kind == "text":
        return Val(_unquoted(word.text))
    if word.kind == "number":
        return Val(float(word.text) if "." in word.text else int(word.text))
    return Val(_LITERALS[word.text]) if word.text in _LITERALS else None


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    if text[0] == "`" or "\\" not in inner:
        return inner
    plain = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\"}
    if inner not in plain:
        raise Unreadable(f"{text} is not read here")
    return plain[inner]


def _ranged(words: tuple[Word, ...]) -> tuple[list[str], tuple[Word, ...]]:
    at = next((n for n, one in enumerate(words) if one.text == ":="), -1)
    return [one.text for one in words[: max(at, 0)] if one.text != ","], words[at + 1 :]


def _split(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    start = depth = 0
    for at, one in enumerate(words):
        depth += (one.text == "(") - (one.kind == "close")
        if one.text == "|" and depth == 0:
            yield tuple(words[start:at])
            start = at + 1
    yield tuple(words[start:])


def _arguments(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    start = depth = 0
    for at, one in enumerate(words):
        depth += (one.text == "(") - (one.kind == "close")
        if depth == 0:
            yield tuple(words[start : at + 1])
            start = at + 1
    if depth or start < len(words):
        raise Unreadable("the brackets of the template do not match")
