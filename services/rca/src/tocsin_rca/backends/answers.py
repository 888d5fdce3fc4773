"""How every backend answers and what most are asked: a sentence, few rows, a link; a time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import AwareDatetime, Field, model_serializer

from tocsin_contracts import Value
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line

MOST_ROWS = 50
MOST_MINUTES = 60 * 24 * 7

Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""A number as others count time: one that is larger is no time, and would break a division."""

Until = Annotated[
    AwareDatetime | None,
    Field(description="The end of the time that is looked at, with its zone; empty: now."),
]
Minutes = Annotated[
    int, Field(ge=1, le=MOST_MINUTES, description="How many minutes before that are looked at.")
]
Limit = Annotated[int, Field(ge=1, le=MOST_ROWS, description="How many at most.")]


class Brief(Value):
    """A part of an answer; what is empty in it is left out, for a model pays for every word."""

    @model_serializer(mode="wrap")
    def _brief(self, whole: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {key: value for key, value in whole(self).items() if _says_something(value)}


class Told(Brief):
    """An answer: one sentence for people first, then rows; a link to all of it where people look.

    `left_out` counts what there is beside the rows.
    """

    said: str
    link: str = ""
    left_out: int | None = None


def window(until: datetime | None, minutes: int, now: datetime) -> tuple[datetime, datetime]:
    """Return the start and the end of the time to look at; it never ends in the future."""
    end = min(until or now, now)
    try:
        return end - timedelta(minutes=minutes), end
    except OverflowError as error:
        raise PermanentError("`until` is too long ago; name a time of this century") from error


def moment(seconds: float | str) -> datetime:
    """Return the time that is so many seconds after 1970; PermanentError for what is none."""
    try:
        return datetime.fromtimestamp(float(seconds), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise PermanentError(f"{line(str(seconds))!r} is no time") from error


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number of things in words."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _says_something(value: Any) -> bool:
    return value is not None and value not in ("", [], {}, ())
