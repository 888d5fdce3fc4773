"""What an investigation may ask a store of metrics by itself."""

from datetime import UTC, datetime, timedelta

import pytest

from tocsin_agents.tools.port import Identity, Status, ToolContext
from tocsin_cluster.clusters import ONLY
from tocsin_contracts import ClusterContext, KnownCluster
from tocsin_rca.ports import Measured, Sample, Series
from tocsin_rca.settings import Settings
from tocsin_rca.tools import outside
from tocsin_rca.tools.metrics import MetricTools

BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CALLS = {"web": ["api"], "api": ["db"]}


def rises(service, by, before=10.0):
    """Return a metric that moves a little, and by some amount when the alert began."""
    samples = tuple(
        Sample(BEGAN + timedelta(minutes=m), before + m % 3 + (by if m >= 0 else 0))
        for m in range(-30, 10)
    )
    return Series({"service": service}, samples)


class FakeMetrics:
    source = "prometheus"

    def __init__(self, *series):
        self._series, self.asked = series, []

    async def over(self, query, window):
        self.asked.append((query, window))
        return Measured(self._series)

    def selects(self, cluster):
        return {"cluster": cluster} if cluster else {}

    def link(self, query, window):
        return ""


@pytest.fixture
def ask(clock):
    async def call(metrics, clusters=(), **arguments):
        (tool,) = await MetricTools(metrics, clock).toolset().tools(Identity("ada"))
        known = tuple(KnownCluster(name=name, reachable=True) for name in clusters)
        context = ToolContext(Identity("ada"), clusters=ClusterContext(clusters=known))
        given = {"metric": "errors_total", "label": "service", "began": BEGAN.isoformat()}
        return await tool.call(given | arguments, context)

    return call


def subjects(result):
    return [one["subject"] for one in result.data["suspects"]]


async def test_what_changed_when_the_alert_began_is_named_and_what_did_not_is_not(ask):
    result = await ask(FakeMetrics(rises("web", 0), rises("db", 80), rises("api", 40)))
    assert subjects(result) == ["db", "api"]
    assert result.data["compared"] == 3


async def test_with_a_call_graph_the_deepest_suspect_comes_first(ask):
    metrics = FakeMetrics(rises("web", 90), rises("api", 80), rises("db", 40))
    assert subjects(await ask(metrics)) == ["web", "api", "db"]
    assert subjects(await ask(metrics, calls=CALLS))[0] == "db"


async def test_what_moves_unlike_the_symptom_counts_less(ask):
    other = rises("cache", 41)
    back = tuple(s for s in other.samples if s.at < BEGAN + timedelta(minutes=5))
    metrics = FakeMetrics(rises("web", 20), rises("db", 40), Series(other.labels, back))
    assert "web" in subjects(await ask(metrics, symptom="web"))


async def test_of_a_counter_the_rate_is_asked_for_and_of_anything_else_its_value(ask):
    metrics = FakeMetrics()
    await ask(metrics, namespace="shop")
    await ask(metrics, metric="queue_length")
    assert [query for query, _ in metrics.asked] == [
        'sum by (service) (rate(errors_total{namespace="shop"}[5m]))',
        "sum by (service) (queue_length{})",
    ]


@pytest.mark.parametrize(
    "wrong", [{"metric": "up) or (secret"}, {"label": 'a"}'}, {"began": "2026-03-02T09:00:00"}]
)
async def test_only_names_and_a_time_with_a_zone_are_taken(ask, wrong):
    metrics = FakeMetrics()
    assert (await ask(metrics, **wrong)).status is Status.ERROR
    assert metrics.asked == []


async def test_a_namespace_cannot_break_out_of_its_quotes(ask):
    metrics = FakeMetrics()
    await ask(metrics, namespace='x"} or up{a="')
    assert metrics.asked[0][0].count('\\"') == 2


async def test_only_the_cluster_of_the_investigation_is_asked_about(ask):
    metrics = FakeMetrics()
    await ask(metrics, clusters=("west",))
    assert 'cluster="west"' in metrics.asked[0][0]
    assert (await ask(metrics, clusters=("west",), cluster="east")).status is Status.ERROR
    assert (await ask(metrics, clusters=("west", "east"))).status is Status.ERROR
    await ask(metrics, clusters=(ONLY,))
    assert len(metrics.asked) == 2
    assert "cluster=" not in metrics.asked[1][0]


async def test_the_tool_is_there_exactly_where_a_prometheus_is():
    assert outside.metrics(Settings()) == ()
    (toolset,) = outside.metrics(Settings(prometheus_url="http://127.0.0.1:9"))
    (tool,) = await toolset.tools(Identity("ada"))
    assert tool.spec.name == "metrics.localise"
