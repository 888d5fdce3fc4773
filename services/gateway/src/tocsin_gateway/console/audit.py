"""Who did what: the facts that a person caused, as lines that can be filtered and taken away."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from tocsin_contracts import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRecorded,
    BudgetExtended,
    Decision,
    Event,
    PullRequestClosed,
    PullRequestMerged,
    RunCancelRequested,
    RunId,
)
from tocsin_contracts.amending import AmendmentRequested
from tocsin_contracts.configuring import ConfigChanged
from tocsin_contracts.operations import (
    DeadLetterDiscarded,
    DeadLetterReplayed,
    RunEscalationRequested,
    RunRerun,
)
from tocsin_contracts.outcomes import Rated
from tocsin_gateway import telling
from tocsin_gateway.console.search import known
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.feed import Fact

LONGEST = 200


class Deed(StrEnum):
    """What kind of thing somebody did."""

    DECISION = "decision"
    RUN = "run"
    BUDGET = "budget"
    PULL_REQUEST = "pull_request"
    DEAD_LETTER = "dead_letter"
    CONFIGURATION = "configuration"
    RATING = "rating"


DEEDS: Mapping[type[Event], Deed] = {
    ApprovalRecorded: Deed.DECISION,
    ApprovalGranted: Deed.DECISION,
    ApprovalDenied: Deed.DECISION,
    ApprovalExpired: Deed.DECISION,
    AmendmentRequested: Deed.DECISION,
    RunCancelRequested: Deed.RUN,
    RunRerun: Deed.RUN,
    RunEscalationRequested: Deed.RUN,
    BudgetExtended: Deed.BUDGET,
    PullRequestMerged: Deed.PULL_REQUEST,
    PullRequestClosed: Deed.PULL_REQUEST,
    DeadLetterReplayed: Deed.DEAD_LETTER,
    DeadLetterDiscarded: Deed.DEAD_LETTER,
    ConfigChanged: Deed.CONFIGURATION,
    Rated: Deed.RATING,
}
"""The facts that are audited, and what kind each is; every other fact is left out."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One deed. `by` is empty where nobody did it, such as a time that ran out."""

    number: int
    at: datetime
    by: str
    deed: Deed
    text: str
    run_id: RunId
    plan_hash: str = ""
    surface: str = ""
    reason: str = ""
    break_glass: bool = False
    """Whether it was a yes past the rules of who has to say it."""


def entry(fact: Fact) -> Entry | None:
    """Return the line of a fact; None for one that is not audited."""
    event = fact.event
    deed = DEEDS.get(type(event)) if event else None
    if event is None or deed is None:
        return None
    said = getattr(event, "decision", None)
    told: object = said if isinstance(said, Decision) else event
    return Entry(
        number=fact.number,
        at=event.at,
        by=_text(told, "by"),
        deed=deed,
        text=telling.sentence(event),
        run_id=event.run_id,
        plan_hash=_text(told, "plan_hash"),
        surface=_text(told, "surface"),
        reason=_text(told, "reason"),
        break_glass=bool(getattr(told, "break_glass", False)),
    )


def _text(told: object, field: str) -> str:
    return str(getattr(told, field, "") or "")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines somebody looks for; what is empty or None is all. Days are in UTC."""

    by: str = ""
    run: str = ""
    deeds: tuple[Deed, ...] = ()
    since: date | None = None
    until: date | None = None

    @classmethod
    def of(cls, query: QueryParams) -> "Wanted":
        """Read it from an address; RefusedError for what no link of ours says."""
        return cls(
            by=query.get("by", "").strip()[:LONGEST],
            run=query.get("run", "").strip()[:LONGEST],
            deeds=known(Deed, "deed", query.getlist("deed")),
            since=_day("since", query.get("since", "")),
            until=_day("until", query.get("until", "")),
        )

    def address(self) -> str:
        """Return it as the query of an address."""
        days = (("since", self.since), ("until", self.until))
        pairs = [("by", self.by), ("run", self.run)]
        pairs += [("deed", one.value) for one in self.deeds]
        pairs += [(name, day.isoformat()) for name, day in days if day]
        return urlencode([pair for pair in pairs if pair[1]])

    def found(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return those that it looks for."""
        return [one for one in entries if self._has(one)]

    def _has(self, one: Entry) -> bool:
        day = one.at.astimezone(UTC).date()
        return (
            self.by.casefold() in one.by.casefold()
            and self.run in ("", one.run_id)
            and (not self.deeds or one.deed in self.deeds)
            and (self.since is None or self.since <= day)
            and (self.until is None or day <= self.until)
        )


def _day(name: str, given: str) -> date | None:
    try:
        return date.fromisoformat(given) if given else None
    except ValueError:
        raise RefusedError(422, f"{name} is no day: {given!r}", "write it as 2026-03-31") from None
