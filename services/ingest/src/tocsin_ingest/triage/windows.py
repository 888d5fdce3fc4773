"""Windows of time in which alerts need nobody, or changes have to wait: once, or every week."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Self
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, ConfigDict, Field, field_validator, model_validator

from tocsin_contracts import Alert, Value
from tocsin_ingest.triage.matchers import Matchers, Selective, all_match, subject


class Weekday(StrEnum):
    """Days as `datetime.weekday()` counts them."""

    MON = "mon"
    TUE = "tue"
    WED = "wed"
    THU = "thu"
    FRI = "fri"
    SAT = "sat"
    SUN = "sun"


_DAYS = tuple(Weekday)


@dataclass(frozen=True, slots=True)
class Span:
    """From an instant until another, which it does not hold."""

    start: datetime
    end: datetime

    def holds(self, at: datetime) -> bool:
        """Whether an instant lies within it."""
        return self.start <= at < self.end


class Weekly(Value):
    """Hours of some days by the clock on a wall; an end before the start is on the next day."""

    model_config = ConfigDict(extra="forbid")

    days: tuple[Weekday, ...] = Field(min_length=1)
    start: time
    end: time
    zone: str

    @field_validator("zone")
    @classmethod
    def _known(cls, zone: str) -> str:
        try:
            ZoneInfo(zone)
        except (OSError, ValueError, LookupError):
            raise ValueError(f"no time zone: {zone!r}; name one such as Europe/Berlin") from None
        return zone

    @field_validator("start", "end")
    @classmethod
    def _by_the_wall(cls, at: time) -> time:
        if at.tzinfo is not None:
            raise ValueError("a time of day is by the clock of `zone`: write it without an offset")
        return at

    def spans(self, around: datetime) -> Iterator[Span]:
        """Yield the spans that may hold an instant.

        Of an hour that a clock shows twice, a start takes the first and an end the second; one that
        it skips is as far behind the last hour it did show.
        """
        zone = ZoneInfo(self.zone)
        today = around.astimezone(zone).date()
        for day in (today - timedelta(days=1), today):
            if _DAYS[day.weekday()] in self.days:
                yield self._on(day, zone)

    def _on(self, day: date, zone: ZoneInfo) -> Span:
        last = day if self.end > self.start else day + timedelta(days=1)
        start = datetime.combine(day, self.start.replace(fold=0), zone)
        end = datetime.combine(last, self.end.replace(fold=1), zone)
        return Span(start.astimezone(UTC), end.astimezone(UTC))


class Window(Value):
    """One window: from an instant to an instant, or every week."""

    model_config = ConfigDict(extra="forbid")

    name: str
    matchers: Matchers = ()
    start: AwareDatetime | None = None
    end: AwareDatetime | None = None
    weekly: Weekly | None = None
    comment: str = ""
    by: str = ""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        once = self.start is not None and self.end is not None
        if (self.start is None) != (self.end is None) or once == (self.weekly is not None):
            raise ValueError(f"window {self.name!r} needs `start` and `end`, or `weekly`")
        if self.start and self.end and self.end <= self.start:
            raise ValueError(f"window {self.name!r} ends before it starts")
        return self

    def span(self, at: datetime) -> Span | None:
        """Return the span of the window that holds an instant."""
        once = [Span(self.start, self.end)] if self.start and self.end else []
        spans = self.weekly.spans(at) if self.weekly else once
        return next((span for span in spans if span.holds(at)), None)

    def said(self, span: Span) -> str:
        """Say which window it is and how long it lasts."""
        why = f": {self.comment}" if self.comment else ""
        by = f" by {self.by}" if self.by else ""
        return f"{self.name!r}{by} holds until {span.end.isoformat()}{why}"


class MaintenanceWindow(Window):
    """A window that holds alerts back, so it must say which."""

    matchers: Selective


@dataclass(frozen=True, slots=True)
class Open:
    """A window that holds now, and until when."""

    window: Window
    span: Span


def open_window(windows: Iterable[Window], alert: Alert, at: datetime) -> Open | None:
    """Return the window that an alert falls into at a time: of several, the one that ends last."""
    labels = subject(alert)
    found = [
        Open(window, span)
        for window in windows
        if (span := window.span(at)) and all_match(window.matchers, labels)
    ]
    return max(found, key=lambda one: (one.span.end, one.window.name), default=None)
