"""What Prometheus is told of the whole deployment; what nobody saw is told as nothing."""

from datetime import timedelta

from prometheus_client import REGISTRY

from tocsin_contracts import RunState
from tocsin_contracts.status import (
    Condition,
    ConsumerView,
    InstanceView,
    ServiceView,
    StatusView,
    StoreView,
    StreamView,
)
from tocsin_kit.errors import TransientError
from tocsin_kit.gauges import Gauges, show
from tocsin_kit.run_view import Standing
from tocsin_testing.build import NOW
from tocsin_testing.fakes import FakeClock

WELL = Condition.HEALTHY


def value(name, **labels):
    return REGISTRY.get_sample_value(name, labels)


def process(condition=WELL):
    return InstanceView(
        service="rca",
        instance="host-1",
        condition=condition,
        version="1",
        started_at=NOW,
        seen_at=NOW,
        age_seconds=0,
        in_flight=0,
    )


ONE = process()


def seen(*, instances=(ONE,), lag=3, fill=0.5, store=WELL):
    place = ConsumerView(
        durable="rca-opened",
        service="rca",
        stream="TOCSIN",
        subject="tocsin.>",
        condition=WELL,
        lag=lag,
        ack_pending=lag,
        redelivered=lag,
    )
    return StatusView(
        condition=WELL,
        at=NOW,
        services=(
            ServiceView(service="rca", condition=WELL, instances=instances, consumers=(place,)),
        ),
        streams=(StreamView(stream="TOCSIN", condition=WELL, fill=fill, messages=7),),
        store=StoreView(condition=store),
    )


def test_how_far_a_service_is_behind_can_be_scraped():
    show(seen(lag=3))
    for name in ("lag", "unsettled", "redelivered"):
        assert value(f"tocsin_consumer_{name}", service="rca", durable="rca-opened") == 3
    assert value("tocsin_stream_fill_ratio", stream="TOCSIN") == 0.5
    assert value("tocsin_stream_messages", stream="TOCSIN") == 7


def test_a_figure_that_nobody_saw_has_no_value_and_is_not_zero():
    show(seen())
    show(seen(lag=None, fill=None))
    assert value("tocsin_consumer_lag", service="rca", durable="rca-opened") is None
    assert value("tocsin_stream_fill_ratio", stream="TOCSIN") is None


def test_a_service_whose_processes_are_silent_has_none():
    show(seen(instances=(process(), process(Condition.DEGRADED), process(Condition.UNKNOWN))))
    assert value("tocsin_service_processes", service="rca") == 2
    show(seen(instances=(process(Condition.UNKNOWN),)))
    assert value("tocsin_service_processes", service="rca") == 0


def test_a_part_is_well_or_it_is_not():
    show(seen(store=Condition.UNKNOWN))
    parts = ("rca", "TOCSIN", "store")
    assert [value("tocsin_part_healthy", part=part) for part in parts] == [1, 1, 0]


async def test_a_run_that_does_not_move_is_told_by_how_long():
    moved = NOW - timedelta(minutes=40)
    answers = [[Standing(RunState.VALIDATING, 2, moved)], TransientError("away")]

    async def look():
        return seen()

    async def standing():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    gauges = Gauges(look, standing, FakeClock(NOW))
    await gauges.tell()
    assert value("tocsin_runs_open", state="validating") == 2
    assert value("tocsin_run_still_seconds", state="validating") == 2400
    await gauges.tell()
    assert value("tocsin_runs_open", state="validating") is None
