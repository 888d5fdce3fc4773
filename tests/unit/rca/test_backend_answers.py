"""Much made few: lines by shape, spans by service, series by range; nothing odd breaks a tool."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tocsin_agents.tools.port import Identity, ToolContext
from tocsin_kit.errors import PermanentError
from tocsin_rca import backends
from tocsin_rca.backends import Backend, answers, log_lines, numbers, spans
from tocsin_rca.backends.log_lines import LogLine
from tocsin_rca.backends.spans import Span, TraceRow
from tocsin_testing.fakes import FakeClock

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BACKEND = TypeAdapter(Backend)


def lines(*texts):
    return [LogLine(NOW + timedelta(seconds=n), text) for n, text in enumerate(texts)]


@given(st.lists(st.text(max_size=30), max_size=30))
@settings(max_examples=30)
def test_no_line_is_lost_among_the_shapes(texts):
    assert sum(one.count for one in log_lines.shapes(lines(*texts))) == len(texts)


def test_lines_that_differ_in_numbers_are_one_and_trouble_comes_first():
    told = log_lines.logs(lines("took 3 ms", "took 41 ms", "took 7 ms", "db refused"), 1, total=90)
    assert told.said == "4 lines, the newest of 90, in 2 shapes; 1 of the lines tell of trouble."
    assert [one.text for one in told.shapes] == ["db refused"]
    assert told.left_out == 1


def test_what_is_invisible_in_a_line_is_gone():
    (shape,) = log_lines.shapes(lines("\x1b[31mred\u202e"))
    assert shape.text == "red"


def span(name, parent="", ms=10.0, **more):
    return Span(name, parent, f"service-{name}", "work", NOW.timestamp(), ms, **more)


def test_the_time_of_a_trace_is_told_where_it_was_spent():
    told = spans.trace([span("a", ms=100), span("b", "a", 90, failed=True, error="full")], "")
    assert told.self_ms_by_service == {"service-b": 90, "service-a": 10}
    assert "1 of them failed; most of it in service-b (90 ms)" in told.said
    assert [one.error for one in told.failed] == ["full"]


def test_spans_that_are_each_others_parents_end_all_the_same():
    told = spans.trace([span("a", "b"), span("b", "a")], "")
    assert sum(told.self_ms_by_service.values()) == 0


def test_where_it_is_not_known_whether_a_trace_failed_nothing_is_said_of_it():
    row = TraceRow(id="1", service="a", operation="b", at=NOW, ms=5)
    assert spans.traces([row], 5, "").said == "1 trace; the slowest took 5 ms."


def test_series_without_a_number_are_left_out_and_the_most_moved_is_named():
    still = [(0.0, 5.0), (60.0, 5.0)]
    moved = [(0.0, 1.0), (60.0, None), (120.0, 4.0), (180.0, float("nan"))]
    told = numbers.measured([("a", still), ("b", moved), ("c", [(0.0, None)])], "")
    assert told.said == "2 series; b moved between 1 and 4."
    assert (told.series[0].last, told.series[0].points) == (4, 2)


@pytest.mark.parametrize("seconds", ["soon", 1e400, "nan", 10.0**18])
def test_a_time_that_is_none_is_an_error(seconds):
    with pytest.raises(PermanentError, match="is no time"):
        answers.moment(seconds)


def test_a_time_before_all_times_is_an_error_and_one_to_come_is_now():
    with pytest.raises(PermanentError, match="too long ago"):
        answers.window(datetime.min.replace(tzinfo=UTC), 60, NOW)
    assert answers.window(NOW + timedelta(days=1), 60, NOW) == (NOW - timedelta(hours=1), NOW)


async def answered(options, tool, answer, **arguments):
    toolset = backends.toolset(
        "one",
        BACKEND.validate_python(options),
        set(),
        clock=FakeClock(NOW),
        transport=httpx.MockTransport(lambda _: answer),
    )
    (found,) = [t for t in await toolset.tools(Identity("a")) if t.spec.name == f"one.{tool}"]
    return await found.call(arguments, ToolContext(Identity("a")))


SPLUNK = {"type": "splunk", "url": "https://splunk.example"}
LOKI = {"type": "loki", "url": "https://loki.example"}
JAEGER = {"type": "jaeger", "url": "https://jaeger.example"}


@pytest.mark.parametrize("terms", ["a | delete", "a [search b]", "`macro`"])
async def test_no_command_reaches_splunk(terms):
    told = await answered(SPLUNK, "logs", httpx.Response(200, json={"results": []}), terms=terms)
    assert "should match pattern" in told.error


async def test_a_query_of_numbers_is_none_for_logs():
    told = await answered(LOKI, "logs", httpx.Response(200), query="rate({a='b'}[1m])")
    assert "should match pattern" in told.error


async def test_a_time_larger_than_any_is_an_error_of_the_answer():
    odd = {"spanID": "1", "operationName": "a", "startTime": 10**400, "duration": 1}
    trace = {"traceID": "1", "spans": [odd | {"processID": "p"}], "processes": {}}
    told = await answered(JAEGER, "trace", httpx.Response(200, json={"data": [trace]}), trace="1")
    assert "not of this API" in told.error


async def test_a_compressed_answer_is_refused():
    packed = httpx.Response(200, headers={"content-encoding": "br"}, content=b"x")
    assert "compressed" in (await answered(JAEGER, "services", packed)).error


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"type": "loki"}, "`url` is missing"),
        ({"type": "loki", "url": "https://ana:secret@loki.example"}, "should match pattern"),
        ({"type": "loki", "url": "https://loki.example", "token": "abc"}, "say where it is kept"),
        ({"type": "loki", "url": "https://loki.example", "tokn": 1}, "not permitted"),
        ({"type": "lokki"}, "does not match any of the expected tags"),
    ],
)
def test_options_that_cannot_be_right_are_named(given, why):
    with pytest.raises(ValidationError, match=why):
        BACKEND.validate_python(given)
