from datetime import UTC, datetime, timedelta

import pytest

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import OneCluster
from tocsin_contracts import Workload
from tocsin_kit.errors import TransientError
from tocsin_rca import collectors
from tocsin_rca.collectors.metrics import AFTER, BEFORE, MOST_SERIES
from tocsin_rca.ports import Measured, Sample, Series, World

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
GRAPH = "http://elsewhere.example/graph?g0.expr="
MEMORY = "container_memory_working_set_bytes"


class FakeMetrics:
    """Knows one metric, and answers every other question with the same series."""

    source = "prometheus"

    def __init__(self, *answered, known=(MEMORY,), warnings=(), error=None):
        self._answer = Measured(answered, warnings)
        self._known = Measured(tuple(series(__name__=name) for name in known))
        self._error = error
        self.asked = []

    async def over(self, query, window):
        self.asked.append((query, window))
        if self._error:
            raise self._error
        return self._known if query.startswith("count by (__name__)") else self._answer

    def selects(self, cluster):
        return {"cluster": cluster} if cluster else {}

    def link(self, query, window):
        return ""


def series(value=1.0, **labels):
    return Series(labels, (Sample(START, value),))


@pytest.fixture
def collected(scene, history, clock, budget):
    scene.deployment()

    async def collect(metrics, budget=budget, **changes):
        alert = scene.alert(queue="mail").model_copy(update={"starts_at": START} | changes)
        world = World(OneCluster(scene.cluster()), history([]), clock, metrics)
        return await collectors.collect(alert, world, budget)

    return collect


def missing(case):
    return [o.evidence.excerpt for o in case.missing if o.evidence.source == "prometheus"]


async def test_nobody_is_asked_where_there_is_no_prometheus(collected):
    case = await collected(None)
    assert (case.metrics, missing(case)) == ((), [])


async def test_one_that_is_away_is_missing_once(collected):
    case = await collected(FakeMetrics(error=TransientError("Prometheus is away")))
    assert missing(case) == ["Prometheus is away"]


async def test_a_spent_budget_asks_nothing_more(collected):
    metrics = FakeMetrics(series())
    links = {"source": f"{GRAPH}up"}
    case = await collected(metrics, Budget(3, 30, lambda: 0.0), links=links)
    assert (len(metrics.asked), case.metrics) == (0, ())
    assert "the 3 calls of the investigation are made" in str(missing(case))


async def test_an_answer_in_part_is_shown_and_said_to_be_one(collected):
    case = await collected(FakeMetrics(series(container="app"), warnings=("store 3 is away",)))
    assert [seen.data.subject for seen in case.metrics] == ["container app"]
    assert missing(case) == ["store 3 is away"]


async def test_the_greatest_series_are_kept_and_the_others_counted(collected):
    many = [series(float(n), container=str(n)) for n in range(MOST_SERIES + 3)]
    case = await collected(FakeMetrics(*many))
    kept = [seen.data.at_start.value for seen in case.metrics]
    assert kept == [float(n) for n in range(MOST_SERIES + 2, 2, -1)]
    assert missing(case) == ["3 more series were left out"]


async def test_a_limit_counts_for_the_container_that_it_is_of(collected):
    case = await collected(FakeMetrics(series(5.0, container="app"), series(7.0, container="log")))
    assert [seen.data.limit for seen in case.metrics] == [7.0, 5.0]


async def test_the_cluster_that_the_alert_names_is_asked_about(collected):
    metrics = FakeMetrics(series())
    await collected(metrics, workload=Workload(cluster="eu", namespace="shop", name="web"))
    assert metrics.asked
    assert all('cluster="eu"' in query for query, _ in metrics.asked)


@pytest.mark.parametrize(
    ("starts_at", "end"),
    [
        (START - timedelta(hours=5), START - timedelta(hours=5) + AFTER),
        (START, START + AFTER),
        (datetime(2026, 3, 2, 9, 20, tzinfo=UTC), datetime(2026, 3, 2, 9, 22, tzinfo=UTC)),
        (None, datetime(2026, 3, 2, 9, 22, tzinfo=UTC)),
        (START + timedelta(days=9), datetime(2026, 3, 2, 9, 22, tzinfo=UTC)),
    ],
)
async def test_the_window_lies_around_the_start_and_never_in_the_future(collected, starts_at, end):
    metrics = FakeMetrics(series())
    await collected(metrics, starts_at=starts_at)
    start = min(starts_at or end, end)
    windows = {(window.start, window.end) for _, window in metrics.asked}
    assert windows == {(start - BEFORE, end)}


async def test_an_expression_goes_nowhere_but_to_the_prometheus_that_is_configured(collected):
    metrics = FakeMetrics(series(queue="mail"), series(queue="audit"))
    links = {"source": f"{GRAPH}queue_length+%3E+80"}
    case = await collected(metrics, links=links)
    assert "queue_length" in {query for query, _ in metrics.asked}
    assert "queue mail" in [seen.data.subject for seen in case.metrics]
    assert "queue audit" not in [s.data.subject for s in case.metrics if s.data.limit == 80]


async def test_evidence_says_which_time_was_asked_about_and_where_a_person_sees_the_same(collected):
    class Linked(FakeMetrics):
        def link(self, query, window):
            return f"{GRAPH}{query}"

    case = await collected(Linked(series(pod="web-1-a")))
    seen = case.metrics[0].evidence
    assert (seen.window.start, seen.window.end) == (START - BEFORE, START + AFTER)
    assert seen.ref == f"{GRAPH}{seen.query}"
