"""How everything is: what nobody has seen is unknown, and never counts as well."""

from datetime import timedelta

import pytest
from nats.js.api import ConsumerInfo, StreamInfo

from tocsin_contracts.status import Condition, StoreView
from tocsin_kit import status
from tocsin_kit.bus_figures import BusFigures
from tocsin_kit.heartbeat import Heartbeat, Told
from tocsin_kit.topology import CONSUMERS, FACTS, STREAMS
from tocsin_testing.build import NOW

WELL = StoreView(condition=Condition.HEALTHY)


def told(service="rca", age=1.0, **known):
    beat = {
        "service": service,
        "instance": f"host-{service}",
        "version": "1",
        "started_at": NOW - timedelta(hours=1),
        "at": NOW,
        "in_flight": 0,
        "connected": True,
    }
    return Told(Heartbeat(**{**beat, **known}), timedelta(seconds=age))


def figures(*, without="", used=10, most=1000):
    consumers = {
        one.durable: ConsumerInfo.from_response(
            {
                "name": one.durable,
                "stream_name": one.stream,
                "config": {},
                "created": "2026-01-01T00:00:00Z",
                "num_pending": 3,
                "num_ack_pending": 2,
                "num_redelivered": 1,
            }
        )
        for one in CONSUMERS
        if one.durable != without
    }
    streams = {
        str(one.name): StreamInfo.from_response(
            {
                "config": {"name": one.name, "max_bytes": most},
                "state": {
                    "messages": 4,
                    "bytes": used,
                    "first_seq": 1,
                    "last_seq": 4,
                    "consumer_count": 1,
                },
            }
        )
        for one in STREAMS
        if one.name != without
    }
    return BusFigures(streams, consumers)


def everybody(**changes):
    return [told(service, **changes) for service in status.SERVICES]


def service(view, name="rca"):
    return next(one for one in view.services if one.service == name)


def test_all_is_healthy_only_when_everything_was_seen_to_be():
    view = status.status(NOW, everybody(), figures(), WELL)
    assert view.condition is Condition.HEALTHY
    assert view.problems == ()
    assert {one.service for one in view.services} == {*status.SERVICES}


def test_a_service_that_nobody_has_seen_is_unknown():
    view = status.status(NOW, everybody()[1:], figures(), WELL)
    assert view.problems == (status.SERVICES[0],)
    assert service(view, status.SERVICES[0]).condition is Condition.UNKNOWN
    assert view.condition is Condition.UNKNOWN


def test_a_process_that_fell_silent_is_unknown_whatever_it_said_last():
    assert status.instance_view(told(age=15), NOW).condition is Condition.HEALTHY
    silent = status.instance_view(told(age=16, last_error="x", last_error_at=NOW), NOW)
    assert silent.condition is Condition.UNKNOWN
    assert (NOW - silent.seen_at).total_seconds() == silent.age_seconds == 16


@pytest.mark.parametrize(
    "said",
    [
        {"notice": "a server of tools is away"},
        {"connected": False},
        {"last_error": "KeyError('x')", "last_error_at": NOW - timedelta(minutes=4)},
    ],
    ids=lambda said: next(iter(said)),
)
def test_a_process_with_something_wrong_is_degraded(said):
    assert status.instance_view(told(**said), NOW).condition is Condition.DEGRADED


def test_an_old_error_is_still_told_and_no_longer_held_against_anybody():
    at = NOW - timedelta(minutes=6)
    view = status.instance_view(told(last_error="KeyError('x')", last_error_at=at), NOW)
    assert (view.condition, view.last_error) == (Condition.HEALTHY, "KeyError('x')")


def test_one_process_that_is_well_is_enough():
    view = status.status(NOW, [*everybody(), told(age=99)], figures(), WELL)
    assert service(view).condition is Condition.HEALTHY
    assert len(service(view).instances) == 2


def test_without_the_bus_every_figure_of_it_is_unknown_and_not_zero():
    view = status.status(NOW, everybody(), None, WELL)
    assert {one.condition for one in view.services} == {Condition.UNKNOWN}
    lags = {one.lag for found in view.services for one in found.consumers}
    assert lags == {None}
    assert {(one.condition, one.fill) for one in view.streams} == {(Condition.UNKNOWN, None)}
    assert service(view).condition is Condition.UNKNOWN


def test_a_place_in_a_stream_that_lacks_is_degraded():
    view = status.status(NOW, everybody(), figures(without="rca-opened"), WELL)
    assert "rca-opened" in {one.durable for one in service(view).consumers}
    assert service(view).condition is Condition.DEGRADED
    assert view.problems == ("rca",)


def test_lag_and_what_was_given_again_are_told_of_each_place():
    view = status.status(NOW, everybody(), figures(), WELL)
    found = {(one.lag, one.ack_pending, one.redelivered) for one in service(view).consumers}
    assert found == {(3, 2, 1)}


@pytest.mark.parametrize(("used", "condition"), [(799, "healthy"), (800, "degraded")])
def test_the_stream_of_facts_is_degraded_where_no_run_is_opened_any_more(used, condition):
    found = status.stream_view(FACTS, figures(used=used))
    assert (found.condition, found.fill) == (condition, used / 1000)


def test_a_stream_that_lacks_is_degraded():
    assert status.stream_view(FACTS, figures(without=FACTS)).condition is Condition.DEGRADED


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"aof_enabled": 0}, "appendonly"),
        ({"aof_enabled": 1, "aof_last_write_status": "err"}, "write to its log failed"),
        ({"aof_enabled": 1, "maxmemory_policy": "allkeys-lru"}, "allkeys-lru"),
    ],
)
def test_a_store_that_would_forget_is_degraded_and_says_why(said, problem):
    found = status.store_view(said)
    assert found.condition is Condition.DEGRADED
    assert problem in found.problems[0]


def test_a_store_that_logs_every_write_and_evicts_nothing_is_healthy():
    told = {"aof_enabled": 1, "aof_last_write_status": "ok", "maxmemory_policy": "noeviction"}
    found = status.store_view(told)
    assert (found.condition, found.persistence) == (Condition.HEALTHY, "every write is logged")
