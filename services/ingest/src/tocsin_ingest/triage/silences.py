"""Alerts that somebody wants to hear nothing of: by their title for good, or for some time."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from pydantic import AwareDatetime, ConfigDict, model_validator

from tocsin_contracts import Alert, SuppressionKind, Value
from tocsin_ingest.triage.matchers import Selective, all_match, subject


@dataclass(frozen=True, slots=True)
class Held:
    """Why an alert needs nobody now; `until` is None where the rule has no end."""

    kind: SuppressionKind
    rule: str
    by: str = ""
    until: datetime | None = None


class Silence(Value):
    """One silence. Its times are instants: without an offset they are refused."""

    model_config = ConfigDict(extra="forbid")

    name: str
    matchers: Selective
    start: AwareDatetime
    end: AwareDatetime
    comment: str = ""
    by: str = ""

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"silence {self.name!r} ends before it starts")
        return self

    def holds(self, at: datetime) -> bool:
        """Whether it is in force; its end is the first instant at which it is not."""
        return self.start <= at < self.end


def suppressing_rule(alert: Alert, suppressed_titles: Collection[str]) -> str:
    """Return the rule that suppresses an alert by its title, in words, or an empty string."""
    if alert.title in suppressed_titles:
        return f"alerts called {alert.title!r} are listed in TOCSIN_SUPPRESS_ALERTS"
    return ""


def silenced(silences: Iterable[Silence], alert: Alert, at: datetime) -> Held | None:
    """Return what silences an alert at a time: of several, the one that lasts longest."""
    labels = subject(alert)
    holding = [one for one in silences if one.holds(at) and all_match(one.matchers, labels)]
    if not holding:
        return None
    longest = max(holding, key=lambda one: (one.end, one.name))
    why = f": {longest.comment}" if longest.comment else ""
    by = f" by {longest.by}" if longest.by else ""
    return Held(
        SuppressionKind.SILENCE,
        f"silence {longest.name!r}{by} holds until {longest.end.isoformat()}{why}",
        longest.by,
        longest.end,
    )
