"""Hours of every week by the clock on a wall, and the spans of time that they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from pydantic import ConfigDict, Field, field_validator

from tocsin_contracts import Value


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
