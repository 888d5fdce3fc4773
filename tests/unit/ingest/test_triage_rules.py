"""The rules of triage, each by itself: what they hold back, and what they say of it."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tocsin_contracts import Severity, SuppressionKind
from tocsin_ingest.triage import correlation, routing, storms
from tocsin_ingest.triage.correlation import CorrelationRules
from tocsin_ingest.triage.matchers import Matcher, Matchers, all_match, subject
from tocsin_ingest.triage.routing import Route
from tocsin_ingest.triage.rules import Rules
from tocsin_ingest.triage.silences import Silence, silenced, suppressing_rule
from tocsin_ingest.triage.storms import StormRules
from tocsin_ingest.triage.windows import MaintenanceWindow, Window, open_window
from tocsin_kit.weekly import Weekly
from tocsin_testing import build
from tocsin_testing.build import NOW

BERLIN = ZoneInfo("Europe/Berlin")
LABELS = {"alertname": "X", "severity": "critical", "team": "a b"}


def matchers(*written):
    return TypeAdapter(Matchers).validate_python(written)


def at(text):
    return datetime.fromisoformat(text)


def silence(**changes):
    fields = {
        "name": "quiet",
        "matchers": ["alertname=X"],
        "start": "2026-07-16T15:00:00+02:00",
        "end": "2026-07-16T16:00:00+02:00",
        "by": "u-17",
        "comment": "a drill",
    }
    return Silence.model_validate(fields | changes)


def about_x():
    return build.alert(labels={"alertname": "X"})


def night(**changes):
    fields = {"days": ["sat"], "start": "22:00", "end": "06:00", "zone": "Europe/Berlin"}
    return Window(name="night", weekly=Weekly.model_validate(fields | changes))


@pytest.mark.parametrize(
    ("written", "holds"),
    [
        ("alertname=X", True),
        ('alertname="X"', True),
        ("alertname = Y", False),
        ("alertname!=Y", True),
        ('severity=~"critical|page"', True),
        ("severity=~crit", False),
        ("severity!~crit", True),
        ("severity!~crit.*", False),
        ("missing=", True),
        ("missing!=", False),
        ("missing=~.+", False),
        ('team="a b"', True),
    ],
)
def test_a_matcher_holds_as_alertmanagers_do(written, holds):
    assert all_match(matchers(written), LABELS) is holds


@pytest.mark.parametrize("written", ["", "alertname", "=X", "a=~(", 'a="x', "a==~("])
def test_what_is_no_matcher_is_refused(written):
    with pytest.raises(ValidationError, match=r"no matcher|no expression|not closed"):
        matchers(written, "a=~(")


@given(st.sampled_from(["=", "!=", "=~", "!~"]), st.text(max_size=10))
@settings(max_examples=60)
def test_a_matcher_is_read_as_it_is_written(op, value):
    try:
        one = Matcher(name="x", op=op, value=value)
    except ValidationError:
        return
    assert Matcher.model_validate(str(one)) == one


def test_matchers_see_what_is_known_of_an_alert_and_its_labels_first():
    seen = subject(build.alert(labels={"severity": "page"}, title="T", severity=Severity.CRITICAL))
    assert (seen["alertname"], seen["severity"]) == ("T", "page")
    assert {"source", "namespace", "workload", "cluster"} <= seen.keys()


def test_a_listed_title_suppresses_and_names_the_setting():
    rule = suppressing_rule(build.alert(title="Watchdog"), ["Watchdog"])
    assert rule == "alerts called 'Watchdog' are listed in TOCSIN_SUPPRESS_ALERTS"


@pytest.mark.parametrize("title", ["watchdog", "Watchdog2", ""])
def test_only_the_exact_title_suppresses(title):
    assert suppressing_rule(build.alert(title=title), ["Watchdog"]) == ""


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        ("2026-07-16T12:30:00+00:00", False),
        ("2026-07-16T12:59:59+00:00", False),
        ("2026-07-16T13:00:00+00:00", True),
        ("2026-07-16T13:10:00+00:00", True),
        ("2026-07-16T14:00:00+00:00", False),
    ],
)
def test_d03_a_silence_holds_from_its_start_on_whatever_the_offset_it_was_written_with(now, holds):
    held = silenced([silence()], about_x(), at(now))
    assert (held is not None) is holds


def test_a_silence_says_who_made_it_why_and_until_when():
    held = silenced([silence()], about_x(), at("2026-07-16T13:10:00+00:00"))
    assert held.kind is SuppressionKind.SILENCE
    assert held.rule == ("silence 'quiet' by u-17 holds until 2026-07-16T16:00:00+02:00: a drill")
    assert held.until == at("2026-07-16T14:00:00+00:00")


def test_of_several_silences_the_one_that_lasts_longest_counts():
    long = silence(name="long", end="2026-07-16T18:00:00+02:00")
    held = silenced([silence(), long], about_x(), at("2026-07-16T13:10:00Z"))
    assert held.until == long.end


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"start": "2026-07-16T15:00:00"}, "timezone"),
        ({"end": "2026-07-16T14:00:00+02:00"}, "ends before"),
        ({"matchers": []}, "match every alert"),
        ({"matchers": ["foo!=bar"]}, "match every alert"),
        ({"matcher": "x=y"}, "Extra inputs"),
    ],
)
def test_a_silence_that_cannot_be_meant_is_refused(change, why):
    with pytest.raises(ValidationError, match=why):
        silence(**change)


def test_a_weekly_window_goes_on_after_midnight():
    saturday_evening, sunday_morning = "2026-03-07T23:00:00+01:00", "2026-03-08T05:59:00+01:00"
    assert night().span(at(saturday_evening)) == night().span(at(sunday_morning))
    assert night().span(at("2026-03-08T06:00:00+01:00")) is None
    assert night().span(at("2026-03-08T23:00:00+01:00")) is None


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-28", 7), ("2026-10-24", 9), ("2026-07-04", 8)]
)
def test_a_weekly_window_follows_the_clock_on_the_wall_when_summer_time_begins_and_ends(day, hours):
    span = night().span(at(f"{day}T23:00:00").replace(tzinfo=BERLIN))
    assert span.end - span.start == timedelta(hours=hours)
    assert span.start.astimezone(BERLIN).time() == time(22)
    assert span.end.astimezone(BERLIN).time() == time(6)


def test_an_hour_that_the_clock_shows_twice_is_in_the_window_both_times():
    twice = night(days=["sun"], start="02:00", end="03:00")
    assert twice.span(at("2026-10-25T02:30:00+02:00")) == twice.span(
        at("2026-10-25T02:30:00+01:00")
    )
    assert twice.span(at("2026-10-25T03:00:00+01:00")) is None


@given(
    st.integers(0, 365 * 1440).map(lambda minutes: NOW + timedelta(minutes=minutes)),
    st.times().map(lambda t: t.replace(second=0, microsecond=0)),
    st.times().map(lambda t: t.replace(second=0, microsecond=0)),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Chatham"]),
)
@settings(max_examples=150)
def test_an_instant_is_in_a_weekly_window_if_its_wall_time_is(instant, start, end, zone):
    zone_info = ZoneInfo(zone)
    days = [(instant + timedelta(days=n)).astimezone(zone_info) for n in (-2, -1, 0, 1, 2)]
    if len({day.utcoffset() for day in days}) > 1:
        return  # clocks change around it: that has tests of its own
    every = {"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "zone": zone}
    window = Window(name="w", weekly=Weekly(start=start, end=end, **every))
    wall = instant.astimezone(zone_info).time()
    inside = start <= wall < end if start < end else wall >= start or wall < end
    assert (window.span(instant) is not None) is inside


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "needs `start` and `end`, or `weekly`"),
        ({"start": NOW}, "needs `start` and `end`, or `weekly`"),
        ({"start": NOW, "end": NOW}, "ends before"),
        ({"weekly": {"days": [], "start": "1:00", "end": "2:00", "zone": "UTC"}}, "days"),
        (
            {"weekly": {"days": ["mon"], "start": "01:00", "end": "02:00", "zone": "Mars"}},
            "no time zone",
        ),
        ({"weekly": {"days": ["mon"], "start": "01:00Z", "end": "02:00", "zone": "UTC"}}, "offset"),
    ],
)
def test_a_window_that_cannot_be_meant_is_refused(fields, why):
    with pytest.raises(ValidationError, match=why):
        Window.model_validate({"name": "w"} | fields)


def test_a_freeze_may_be_about_every_alert_and_maintenance_may_not():
    span = {"name": "w", "start": NOW, "end": NOW + timedelta(hours=1)}
    assert open_window([Window(**span)], build.alert(), NOW)
    with pytest.raises(ValidationError):
        MaintenanceWindow.model_validate(span)


def test_no_label_says_to_a_route_who_sent_an_alert():
    routes = [Route(matchers=matchers("source=grafana"), auto_approve="low-risk")]
    forged = build.alert(source="generic", labels={"alertname": "A", "source": "grafana"})
    assert routing.route(routes, forged).auto_approve == ""
    honest = build.alert(source="grafana", labels={"alertname": "A", "source": "generic"})
    assert routing.route(routes, honest).auto_approve == "low-risk"


def test_routes_say_for_each_field_what_the_first_of_them_says():
    routes = [
        Route(matchers=matchers("namespace=payments"), team="payments"),
        Route(matchers=matchers("cluster=~prod.*"), environment="production", team="sre"),
        Route(auto_approve="low-risk"),
    ]
    found = routing.route(routes, build.alert())
    assert (found.team, found.environment, found.auto_approve) == (
        "payments",
        "production",
        "low-risk",
    )
    assert routing.route([], build.alert()) == Route()


def card(run_id, seconds=0, rules=None, **changes):
    fields = {"title": "PodCrashLooping", "summary": "", "labels": {}}
    about = build.alert(**(fields | changes))
    moment = NOW + timedelta(seconds=seconds)
    return correlation.card(run_id, moment, about, rules or CorrelationRules())


def related(new, *others, rules=None):
    return correlation.related(new, others, rules or CorrelationRules())


def place(**changes):
    return build.workload(cluster="", **changes)


def test_two_alerts_of_one_node_at_one_time_may_have_one_cause_and_the_parts_say_why():
    node = {"node": "n1"}
    old = card("r1", labels=node, workload=place(namespace="a", name="x"))
    new = card("r2", 30, labels=node, workload=place(namespace="b", name="y"))
    (found,) = related(new, old)
    assert found.into == "r1"
    assert {part.name: round(part.score, 2) for part in found.parts} == {
        "topology": 0.8,
        "time": 0.9,
        "text": 1.0,
    }
    assert found.score == pytest.approx(sum(part.score * part.weight for part in found.parts))
    assert "both on node n1" in correlation.said(found)


def test_the_older_run_wins_and_of_two_at_once_the_one_whose_id_comes_first():
    one, other = card("r1", labels={"node": "n1"}), card("r2", labels={"node": "n1"})
    assert [found.into for found in related(other, one)] == ["r1"]
    assert related(one, other) == []


def test_time_and_text_alone_make_no_relation():
    old = card("r1", workload=place(namespace="a", name="x"))
    assert related(card("r2", workload=place(namespace="b", name="y")), old) == []


def test_two_clusters_have_nothing_in_common():
    old = card("r1", workload=build.workload(cluster="one"))
    assert related(card("r2", workload=build.workload(cluster="two")), old) == []


def test_a_workload_is_related_to_what_it_is_known_to_need():
    rules = CorrelationRules(depends_on={"shop/web": ("db/postgres",)})
    down = {"title": "Down", "workload": place(namespace="db", name="postgres")}
    slow = {"title": "Slow", "workload": place(namespace="shop", name="web")}
    old = card("r1", rules=rules, **down)
    (found,) = related(card("r2", 10, rules, **slow), old, rules=rules)
    assert "shop/web needs db/postgres" in correlation.said(found)


def test_a_label_names_the_upstream_service():
    old = card("r1", title="Down", workload=place(namespace="db", name="postgres"))
    labels = {"upstream": "postgres"}
    new = card("r2", 10, title="Slow", labels=labels, workload=place(namespace="shop", name="web"))
    assert related(new, old)


def test_what_happened_long_before_needs_more_in_common():
    node = {"node": "n1"}
    old = card("r1", title="One", labels=node, workload=place(namespace="a", name="x"))
    late = card("r2", 299, title="Two", labels=node, workload=place(namespace="b", name="y"))
    assert related(late, old) == []


def test_weights_that_do_not_add_up_are_refused():
    with pytest.raises(ValidationError, match="add up to 1"):
        CorrelationRules(topology=0.9)


@given(st.lists(st.integers(0, 400), min_size=2, max_size=6), st.data())
@settings(max_examples=40)
def test_no_two_runs_are_each_related_to_the_other(seconds, data):
    names = st.sampled_from(["", "n1", "n2"])
    cards = [card(f"r{n}", at, labels={"node": data.draw(names)}) for n, at in enumerate(seconds)]
    into = {(new.run_id, found.into) for new in cards for found in related(new, *cards)}
    assert not {(old, new) for new, old in into} & into


@pytest.mark.parametrize(
    ("labels", "root"),
    [
        ({"node": "n1", "namespace": "a"}, "node n1 of prod-eu-1"),
        ({"namespace": "a"}, "namespace a of prod-eu-1"),
    ],
)
def test_runs_of_a_storm_are_brought_together_by_the_first_label_they_have(labels, root):
    alert = build.alert(labels=labels, workload=build.workload(cluster="prod-eu-1"))
    assert storms.root(alert, StormRules()) == root


def test_an_alert_without_any_such_label_is_brought_together_by_its_title():
    alert = build.alert(labels={}, workload=None, title="T")
    assert storms.root(alert, StormRules()) == "alertname T"


def test_every_severity_has_its_rank():
    assert set(storms.RANKS) == set(Severity)


def test_a_rule_that_does_not_exist_is_refused():
    with pytest.raises(ValidationError, match="Extra inputs"):
        Rules.model_validate({"silence": []})
