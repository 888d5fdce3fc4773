"""Which runs a list shows: facets and words, all of it in the address of the page."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from tocsin_contracts import RunState, Severity
from tocsin_gateway.console.desk import Listed
from tocsin_gateway.refusals import RefusedError

S = TypeVar("S", bound=StrEnum)

LOOKED_THROUGH = 300
PAGE = 50
LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a facet; `count` is how many runs it would show, None where nobody looked."""

    facet: str
    value: str
    chosen: bool
    count: int | None


@dataclass(frozen=True, slots=True)
class Search:
    """What somebody looks for; nothing chosen in a facet is all of it."""

    text: str = ""
    states: tuple[RunState, ...] = ()
    severities: tuple[Severity, ...] = ()
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: QueryParams) -> "Search":
        """Read it from an address; RefusedError for what no link of ours says."""
        return cls(
            text=query.get("q", "").strip()[:LONGEST_TEXT],
            states=known(RunState, "state", query.getlist("state")),
            severities=known(Severity, "severity", query.getlist("severity")),
            sources=tuple(dict.fromkeys(filter(None, query.getlist("source")))),
        )

    @property
    def only_state(self) -> RunState | None:
        """The one state that is looked for: then older runs are looked through as well."""
        return self.states[0] if len(self.states) == 1 else None

    @property
    def chosen(self) -> bool:
        """Whether anything narrows it."""
        return self != Search()

    @property
    def problems(self) -> bool:
        """Whether it shows the problems, and only these."""
        return set(self.states) == set(PROBLEMS.states)

    def address(self, page: int = 1) -> str:
        """Return it as the query of an address."""
        pairs = [("q", self.text)] if self.text else []
        pairs += [("state", one.value) for one in self.states]
        pairs += [("severity", one.value) for one in self.severities]
        pairs += [("source", one) for one in self.sources]
        pairs += [("page", str(page))] if page > 1 else []
        return urlencode(pairs)

    def found(self, runs: Iterable[Listed]) -> list[Listed]:
        """Return those that it looks for."""
        return [one for one in runs if self._has(one)]

    def facets(self, runs: Sequence[Listed]) -> dict[str, list[Option]]:
        """Return what can be chosen, with what each choice would show beside the others."""
        states = Counter(one.line.state.value for one in replace(self, states=()).found(runs))
        loud = Counter(one.line.severity.value for one in replace(self, severities=()).found(runs))
        sources = Counter(one.source for one in replace(self, sources=()).found(runs))
        partly = self.only_state is not None
        return {
            "state": [
                Option(
                    "state", one.value, one in self.states, None if partly else states[one.value]
                )
                for one in RunState
                if states[one.value] or one in self.states or partly
            ],
            "severity": [
                Option("severity", one.value, one in self.severities, loud[one.value])
                for one in Severity
                if loud[one.value] or one in self.severities
            ],
            "source": [
                Option("source", one, one in self.sources, sources[one])
                for one in sorted({*sources, *self.sources})
            ],
        }

    def _has(self, one: Listed) -> bool:
        return (
            (not self.states or one.line.state in self.states)
            and (not self.severities or one.line.severity in self.severities)
            and (not self.sources or one.source in self.sources)
            and all(word in _words(one) for word in self.text.casefold().split())
        )


PROBLEMS = Search(states=(RunState.ESCALATED, RunState.FAILED, RunState.EXPIRED))
"""The runs that ended without anybody's decision and without help."""


def page_of(query: QueryParams) -> int:
    """Return which page of a list is asked for."""
    given = query.get("page", "1")
    return min(max(1, int(given)), LOOKED_THROUGH) if given.isdecimal() and len(given) < PAGE else 1


def known(kind: type[S], facet: str, given: Sequence[str]) -> tuple[S, ...]:
    """Return the values that an address names; RefusedError for one that there is not."""
    try:
        return tuple(dict.fromkeys(kind(one) for one in given if one))
    except ValueError:
        known = ", ".join(one.value for one in kind)
        raise RefusedError(422, f"no such {facet}", f"it is one of: {known}") from None


def _words(one: Listed) -> str:
    workload, line = one.line.workload, one.line
    place = (workload.cluster, workload.namespace, workload.name) if workload else ()
    return " ".join((line.run_id, line.title, one.source, line.ended, *place)).casefold()
