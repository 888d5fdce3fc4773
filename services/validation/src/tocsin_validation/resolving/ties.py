"""What no rule can tell apart: a model may choose among the tied, if one is configured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tocsin_contracts import Alert, ObjectRef, RunId, TieAnswer, TieAsked
from tocsin_contracts.ties import MOST_TIED
from tocsin_kit.untrusted import line

ASKED = "a tie"


class Ties(Protocol):
    """Asks whoever has a model."""

    async def ask(self, asked: TieAsked) -> TieAnswer | None:
        """Return the answer, or None if there was none."""


class Notes(Protocol):
    """Where steps of a search are kept."""

    def note(self, asked: str, matched: str, why: str = "") -> None:
        """Keep a step."""


@dataclass(slots=True)
class Breaker:
    """Breaks the ties of one search; `chosen_by` is the model that broke one, if any did.

    Without `ties` or a run none is broken.
    """

    alert: Alert | None = None
    run_id: RunId | None = None
    ties: Ties | None = None
    chosen_by: str = ""

    async def one_of(self, about: ObjectRef, names: Sequence[str], trace: Notes) -> int | None:
        """Return the position of the one that is chosen; None where a person has to choose."""
        asked = self._question(about, names)
        if asked is None or self.ties is None:
            return None
        answer = await self.ties.ask(asked)
        chosen = answer.chosen if answer else None
        if answer is None or chosen is None or chosen >= len(names) or not answer.model:
            trace.note(ASKED, f"no model chose among {', '.join(names)}")
            return None
        self.chosen_by = line(answer.model)
        told = f"the model {self.chosen_by} chose {names[chosen]} among {', '.join(names)}"
        trace.note(ASKED, told, line(answer.why, 300))
        return chosen

    def _question(self, about: ObjectRef, names: Sequence[str]) -> TieAsked | None:
        if self.run_id is None or self.alert is None or not 1 < len(names) <= MOST_TIED:
            return None
        return TieAsked(
            run_id=self.run_id,
            source=self.alert.source,
            about=about,
            title=line(self.alert.title, 300),
            candidates=tuple(names),
        )
