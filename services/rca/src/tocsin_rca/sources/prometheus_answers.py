"""What the HTTP API of Prometheus answers, read without trust; no IO."""

import json
import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, Field

from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line
from tocsin_rca.ports import Measured, Sample, Series

MOST_SERIES = 100
MOST_SAMPLES = 500
_MOST_LABELS = 40
_MOST_WARNINGS = 3
_LONGEST_LABEL = 200
_LONGEST_REASON = 300

_Point = tuple[float, str]


class _Series(BaseModel):
    metric: dict[str, str]
    values: list[_Point] = Field(default_factory=list)


class _Data(BaseModel):
    kind: Literal["matrix"] = Field(alias="resultType")
    result: list[_Series]


class _Answer(BaseModel):
    status: Literal["success", "error"]
    data: _Data | None = None
    error: str = ""
    warnings: list[str] = Field(default_factory=list)


def measured(body: bytes) -> Measured:
    """Return what an answer holds; PermanentError says what is wrong with one that holds nothing.

    Numbers that are not finite are left out, and so are series without any other.
    """
    answer = _read(body)
    if answer.data is None:
        raise PermanentError(f"it answers: {line(answer.error, _LONGEST_REASON) or 'nothing'}")
    warnings = [line(one, _LONGEST_REASON) for one in answer.warnings[:_MOST_WARNINGS]]
    listed = answer.data.result
    found = tuple(_series(listed[:MOST_SERIES]))
    if len(listed) > MOST_SERIES:
        warnings.append(f"{len(listed) - MOST_SERIES} more series were left out")
    return Measured(found, tuple(warnings))


def refusal(body: bytes) -> str:
    """Return why a query was not worked out, as the API says it; empty if it does not."""
    try:
        return line(_read(body).error, _LONGEST_REASON)
    except PermanentError:
        return ""


def _read(body: bytes) -> _Answer:
    try:
        return _Answer.model_validate(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise PermanentError("its answer is none of a Prometheus; is the address right?") from error


def _series(listed: Iterable[_Series]) -> Iterator[Series]:
    for one in listed:
        samples = tuple(_samples(one.values[-MOST_SAMPLES:]))
        if samples:
            kept = list(one.metric.items())[:_MOST_LABELS]
            labels = {line(name): line(text, _LONGEST_LABEL) for name, text in kept}
            yield Series(labels, samples)


def _samples(points: Iterable[_Point]) -> Iterator[Sample]:
    for seconds, text in points:
        try:
            value, at = float(text), datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            continue
        if math.isfinite(value):
            yield Sample(at, value)
