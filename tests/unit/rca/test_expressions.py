import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_rca.evidence.expressions import LONGEST, Threshold, expression, threshold

GRAPH = "http://prometheus.example/graph?g0.tab=1&g0.expr="


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        (f"{GRAPH}up+%3D%3D+0", "up == 0"),
        ("http://grafana.example/alerting/grafana/abc/view", ""),
        ("", ""),
        ("http://[", ""),
        (GRAPH, ""),
        (f"{GRAPH}{'a' * LONGEST}", "a" * LONGEST),
        (f"{GRAPH}{'a' * (LONGEST + 1)}", ""),
        (f"{GRAPH}up%00", ""),
    ],
    ids=range(8),
)
def test_the_expression_of_a_link_is_read_whole_or_not_at_all(link, shown):
    assert expression(link) == shown


@pytest.mark.parametrize(
    ("text", "value", "op", "limit"),
    [
        ("up == 0", "up", "==", 0),
        ("sum(rate(a[5m])) by (x) / sum(b) > 0.05", "sum(rate(a[5m])) by (x) / sum(b)", ">", 0.05),
        ('a{b=~"x > 1", c!="d"} >= 1e3', 'a{b=~"x > 1", c!="d"}', ">=", 1000),
        ("(a > 1) < -2", "(a > 1)", "<", -2),
        ("a offset 5m != .5", "a offset 5m", "!=", 0.5),
    ],
)
def test_one_plain_comparison_with_a_number_is_a_threshold(text, value, op, limit):
    assert threshold(text) == Threshold(value, op, limit)


@pytest.mark.parametrize(
    "text",
    [
        "up",
        "a > b",
        "a > 1 and b > 2",
        "a > 1 unless b",
        "0 < a",
        "1 < a < 3",
        "a > bool 1",
        "(a > 1",
        "a) > 1",
        "(a > 1)",
        "> 1",
        "a # > 1",
        "absent(up)",
        "",
    ],
)
def test_anything_else_is_none(text):
    assert threshold(text) is None


@settings(max_examples=200)
@given(st.text(alphabet="a0.>=<!()[]{}\"'`\\# \n", max_size=40))
def test_what_is_split_is_all_that_was_written(text):
    found = threshold(text)
    if found:
        rest = text.strip().removeprefix(found.value).strip()
        assert rest.startswith(found.op)
        assert float(rest.removeprefix(found.op)) == found.limit
