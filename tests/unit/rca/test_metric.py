from datetime import UTC, datetime, timedelta

import pytest

from tocsin_rca.evidence.distances import distance
from tocsin_rca.evidence.metric import Measure, Metric, Unit, told, written
from tocsin_rca.ports import Sample, Series

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def metric(*values, first=-2, measure=Measure.MEMORY, unit=Unit.BYTES, limit=None):
    minutes = enumerate(values, start=first)
    samples = tuple(Sample(START + timedelta(minutes=n), value) for n, value in minutes)
    return Metric(measure, unit, Series({"container": "app"}, samples), START, limit)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, Unit.BYTES, "0"),
        (1536, Unit.BYTES, "1.5Ki"),
        (256 * 2**20, Unit.BYTES, "256Mi"),
        (3.2e15, Unit.BYTES, "2910Ti"),
        (0.123456, Unit.RATIO, "12.3 %"),
        (0.25, Unit.CORES, "0.25 cores"),
        (0.0123, Unit.SECONDS, "12.3 ms"),
        (12.34, Unit.SECONDS, "12.3 s"),
        (123456, Unit.NUMBER, "123456"),
    ],
)
def test_numbers_are_written_as_people_write_them(value, unit, text):
    assert written(value, unit) == text


def test_the_value_at_the_start_comes_first_and_is_the_last_one_until_then():
    assert told(metric(1, 2, 3, 9, unit=Unit.NUMBER)) == (
        "memory working set of container app: 3 when the alert began;"
        " before: min 1, median 2, max 3 (3 samples); since: min 9, median 9, max 9 (1 samples)"
    )


def test_what_was_first_measured_later_says_so():
    text = told(metric(5, first=3, unit=Unit.NUMBER))
    assert "5 when the alert began (first measured 3 min after the alert began)" in text
    assert "before" not in text


def test_a_limit_of_nothing_is_not_divided_by():
    assert "limit 0" in told(metric(5, limit=0))


def test_nothing_is_no_number():
    assert told(metric()) == "memory working set: nothing was measured"


@pytest.mark.parametrize(
    ("away", "text"),
    [
        ({"seconds": -59}, "in the minute the alert began"),
        ({"minutes": -12}, "12 min before the alert began"),
        ({"minutes": 59}, "59 min after the alert began"),
        ({"hours": -4, "minutes": -12}, "4 h 12 min before the alert began"),
        ({"hours": -4}, "4 h before the alert began"),
        ({"hours": 30}, "30 h after the alert began"),
        ({"days": -20}, "20 days before the alert began"),
    ],
)
def test_a_distance_is_as_exact_as_it_is_near(away, text):
    assert distance(START + timedelta(**away), START) == text


def test_without_a_start_there_is_no_distance():
    assert distance(START, None) == ""
