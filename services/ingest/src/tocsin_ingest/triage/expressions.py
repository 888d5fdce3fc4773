"""Regular expressions that no text can make slow: labels are written by whoever raises an alert.

`re` tries one way after the other, of which `(a+)+b` has a billion. Here all ways are gone at once,
as Alertmanager's own engine does; so what cannot be matched in this manner is no expression.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

MOST_STATES = 1000
"""Of one expression; a count such as `{100}` needs its part as often."""

_TOKEN = re.compile(
    r"(?P<open>\((?:\?:|\?P?<\w+>|(?!\?)))"
    r"|(?P<close>\))"
    r"|(?P<either>\|)"
    r"|(?P<repeat>[*+?]|\{(?=[\d,])(?P<least>\d*)(?:,(?P<most>\d*))?\})\??"
    r"|(?P<edge>[\^$])"
    r"|(?P<one>\[\^?\]?(?:\\.|[^\]\\])*\]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}"
    r"|\\[dDwWsSnrtfva]|\\[^0-9A-Za-z]|[^\\(\[])",
    re.DOTALL,
)
_FLAGS = re.compile(r"\(\?([is]+)\)")
_FEWEST = {"*": 0, "+": 1, "?": 0}


@dataclass(frozen=True, slots=True)
class _State:
    """A place in an expression: what it takes to go on, and where to."""

    to: tuple[int, ...]
    takes: Callable[[str], object] | None = None
    edge: str = ""


Part = Callable[[int], int]
"""Adds the states of a part of an expression before a given one; returns the first of them."""


class Expression:
    """An expression that has to fit a whole text, in time that grows as the text does.

    Raises ValueError for look-around, back-references and what has too many states.
    """

    def __init__(self, written: str) -> None:
        flags = _FLAGS.match(written)
        self._flags = sum(re.RegexFlag[name.upper()] for name in flags[1]) if flags else 0
        self._rest = written[flags.end() :] if flags else written
        self._states: list[_State] = []
        end = self._add(_State(()))
        whole = self._alternatives()
        if self._rest:
            raise ValueError(f"{self._rest[:20]!r} is nothing that is known here: write it without")
        self._start = whole(end)

    def fits(self, text: str) -> bool:
        """Return whether the whole text is as the expression says."""
        now = self._reached([self._start], at_start=True, at_end=not text)
        for position, character in enumerate(text, start=1):
            then = [
                state.to[0]
                for state in map(self._states.__getitem__, now)
                if state.takes and state.takes(character)
            ]
            if not then:
                return False
            now = self._reached(then, at_start=False, at_end=position == len(text))
        return 0 in now

    def _reached(self, first: Iterable[int], *, at_start: bool, at_end: bool) -> set[int]:
        found: set[int] = set()
        waiting = list(first)
        while waiting:
            number = waiting.pop()
            state = self._states[number]
            if number in found or (state.edge and not (at_start if state.edge == "^" else at_end)):
                continue
            found.add(number)
            if state.takes is None:
                waiting += state.to
        return found

    def _add(self, state: _State) -> int:
        if len(self._states) >= MOST_STATES:
            raise ValueError(f"it needs over {MOST_STATES} states: write smaller counts")
        self._states.append(state)
        return len(self._states) - 1

    def _alternatives(self) -> Part:
        parts = [self._sequence()]
        while self._rest.startswith("|"):
            self._rest = self._rest[1:]
            parts.append(self._sequence())
        return lambda after: self._add(_State(tuple(part(after) for part in parts)))

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while (token := _TOKEN.match(self._rest)) and token.lastgroup not in ("close", "either"):
            if token.lastgroup == "repeat":
                parts.append(self._repeated(parts.pop(), token))
            self._rest = self._rest[token.end() :]
            if token["open"]:
                parts.append(self._group())
            elif token["edge"] or token["one"]:
                parts.append(self._single(token["edge"] or "", token["one"] or ""))
        return lambda after: _in_turn(parts, after)

    def _group(self) -> Part:
        inner = self._alternatives()
        self._rest = self._rest.removeprefix(")")
        return inner

    def _single(self, edge: str, one: str) -> Part:
        takes = re.compile(one, self._flags).fullmatch if one else None
        return lambda after: self._add(_State((after,), takes, edge))

    def _repeated(self, part: Part, token: re.Match[str]) -> Part:
        least = int(token["least"]) if token["least"] else _FEWEST.get(token["repeat"], 0)
        endless = token["most"] == "" or token["repeat"] in ("*", "+")
        most = 1 if token["repeat"] == "?" else int(token["most"] or least)

        def add(after: int) -> int:
            first = self._loop(part, after) if endless else after
            for _ in range(0 if endless else most - least):
                first = self._add(_State((part(first), after)))
            return _in_turn([part] * least, first)

        return add

    def _loop(self, part: Part, after: int) -> int:
        again = self._add(_State(()))
        self._states[again] = _State((part(again), after))
        return again


def _in_turn(parts: list[Part], after: int) -> int:
    for part in reversed(parts):
        after = part(after)
    return after


@lru_cache(maxsize=4096)
def expression(written: str) -> Expression:
    """Return the expression; ValueError says what is wrong with it."""
    try:
        re.compile(written)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"no expression: {written!r}: {error}") from None
    try:
        return Expression(written)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no expression: {written!r}: {error}") from None
