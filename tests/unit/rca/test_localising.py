import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_rca.evidence.localising import Suspect, deepest, suspects
from tocsin_rca.evidence.measurements import anomalies_in, calls_in, series_in
from tocsin_rca.evidence.series import Series, change_point, deviation, likeness

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
CURVES = st.lists(NUMBERS, min_size=6, max_size=20)
NAMES = st.sampled_from("abcdef")
GRAPHS = st.dictionaries(NAMES, st.frozensets(NAMES, max_size=3), max_size=6)


def series(values, subject="cart", metric="latency", step=60.0):
    times = tuple(step * n for n in range(len(values)))
    return Series(subject, metric, times, tuple(map(float, values)))


def suspect(subject, score=5.0):
    return Suspect(subject, "latency", score)


@settings(max_examples=60, deadline=None)
@given(CURVES, NUMBERS, st.integers(1, 5))
def test_a_metric_that_stays_what_it_was_deviates_by_nothing(before, factor, copies):
    assert deviation(before, before * copies) == pytest.approx(0)
    assert deviation(before, [*before, factor]) >= 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(1, 1e4), min_size=6, max_size=20), st.floats(0.1, 1e3))
def test_the_unit_of_a_metric_does_not_matter(values, unit):
    after = [value * 3 for value in values]
    scaled = deviation([v * unit for v in values], [v * unit for v in after])
    assert scaled == pytest.approx(deviation(values, after), rel=1e-3)


def test_a_metric_that_stood_still_is_not_infinitely_alarming():
    assert deviation([100.0] * 10, [101.0] * 10) == pytest.approx(1)
    assert deviation([100.0] * 10, [400.0] * 10) == pytest.approx(300)


@pytest.mark.parametrize("before", [[], [1.0], [1.0, 2.0]])
def test_too_little_before_proves_nothing(before):
    assert deviation(before, [1000.0]) == 0


@settings(max_examples=60, deadline=None)
@given(CURVES, CURVES)
def test_likeness_is_a_share_and_the_same_both_ways(one, other):
    first, second = series(one), series(other)
    assert 0 <= likeness(first, second) <= 1
    assert likeness(first, second) == pytest.approx(likeness(second, first))


def test_the_point_of_change_is_where_it_moved_not_where_the_alert_began():
    curve = series([1, 1, 1, 1, 1, 9, 9, 9, 9, 9])
    assert change_point(curve, 480.0, 600.0) == 300.0


def test_what_never_changes_is_no_suspect_and_the_greatest_change_leads():
    flat = series([5] * 20, "flat")
    slow = series([10, 11, 10, 9, 10] * 2 + [80] * 10, "slow")
    worse = series([10, 11, 10, 9, 10] * 2 + [900] * 10, "worse")
    found = suspects([flat, slow, worse], 600.0)
    assert [one.subject for one in found] == ["worse", "slow"]


def test_what_moves_unlike_the_symptom_counts_less():
    symptom = series([1] * 10 + [5, 6, 7, 8, 9, 10, 9, 10, 9, 10], "front")
    alike = series([2, 3] * 5 + [50, 60, 70, 80, 90, 99, 90, 99, 90, 99], "alike")
    unlike = series([2, 3] * 5 + [90] + [2, 3] * 4 + [90], "unlike")
    found = [one.subject for one in suspects([alike, unlike], 600.0, symptom)]
    assert found[:1] == ["alike"]


def test_the_deepest_callee_leads_over_those_that_wait_for_it():
    calls = {"front": frozenset({"cart", "ads"}), "cart": frozenset({"redis"})}
    found = deepest([suspect("front", 90), suspect("cart", 50), suspect("redis", 9)], calls)
    assert found[0].subject == "redis"


def test_without_a_call_graph_the_greatest_change_leads():
    found = (suspect("front", 90), suspect("redis", 9))
    assert deepest(found, {}) == found


@settings(max_examples=60, deadline=None)
@given(st.lists(NAMES, unique=True, max_size=6), GRAPHS)
def test_no_suspect_is_lost_whatever_calls_whom(names, calls):
    found = [suspect(name) for name in names]
    assert sorted(one.subject for one in deepest(found, calls)) == sorted(names)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=20,
    )
)
def test_whatever_a_tool_prints_is_read_without_an_error(data):
    series_in(data)
    anomalies_in(data, "")
    calls_in(data, "")


def test_a_range_query_becomes_series():
    values = [[1700000000 + 60 * n, str(n)] for n in range(4)]
    data = {"data": {"result": [{"metric": {"pod": "cart-1", "__name__": "up"}, "values": values}]}}
    (one,) = series_in(json.loads(json.dumps(data)))
    assert (one.subject, one.metric, one.values) == ("cart-1", "up", (0.0, 1.0, 2.0, 3.0))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([{"service": "cart", "metric": "p99_latency", "current": 2300, "baseline": 40}], ""),
        ({"anomalies": [{"service": "cart", "metric": "p99_latency", "score": 9.1}]}, ""),
        (None, "cart: p99_latency increased from 40ms to 2300ms"),
    ],
)
def test_anomalies_are_read_in_the_shapes_that_tools_print(data, text):
    (one,) = anomalies_in(data, text)
    assert (one.subject, one.metric) == ("cart", "p99_latency")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"front": ["cart", "ads"]}, ""),
        ([{"service": "front", "dependencies": ["cart", "ads"]}], ""),
        ([{"source": "front", "target": "cart"}, {"source": "front", "target": "ads"}], ""),
        (None, "front -> cart, ads"),
        (None, "front -> cart\nfront -> ads"),
    ],
)
def test_call_graphs_are_read_in_the_shapes_that_tools_print(data, text):
    assert calls_in(data, text) == {"front": frozenset({"cart", "ads"})}
