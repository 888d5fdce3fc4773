"""A real Prometheus tells how a workload fared around an alert, or that it does not know."""

import os
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import Alert, EvidenceKind, Workload
from tocsin_rca import collectors
from tocsin_rca.evidence.metric import Measure
from tocsin_rca.ports import World
from tocsin_rca.sources.prometheus import Access, Prometheus
from tocsin_testing.fakes import FakeClock
from tocsin_testing.monitoring import MetricStore, missing

ABSENT = [package for package in missing() if package == "prometheus"]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(ABSENT) and "CI" not in os.environ, reason="no prometheus here"),
]

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CPU = Measure.CPU
MI = 2**20
STEP = 30
POD = 'namespace="shop",pod="web-6f8d7b9c5-k2m4n",container="app"'
OTHER = 'namespace="shop",pod="web-db-k2m4n",container="app"'
GRAPH = "http://monitoring.example:9090/graph?"
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "reg.example/web:2"}]}
"""


def grown(second):
    """Memory climbs from 50Mi for an hour, and is at 250Mi when the alert begins."""
    return min(250, 50 + 200 * (second + 3600) / 3600) * MI


SERIES = {
    f"container_memory_working_set_bytes{{{POD}}}": grown,
    f"container_memory_working_set_bytes{{{OTHER}}}": lambda _: 900 * MI,
    f'kube_pod_container_resource_limits{{{POD},resource="memory"}}': lambda _: 256 * MI,
    f"container_cpu_usage_seconds_total{{{POD}}}": lambda second: (second + 4000) * 0.2,
    f'kube_pod_container_resource_limits{{{POD},resource="cpu"}}': lambda _: 0.5,
    f"container_cpu_cfs_periods_total{{{POD}}}": lambda second: (second + 4000) * 10,
    f"container_cpu_cfs_throttled_periods_total{{{POD}}}": lambda second: (second + 4000) * 4,
    f"kube_pod_container_status_restarts_total{{{POD}}}": lambda second: 3 if second > 0 else 0,
    f'http_requests_total{{{POD},code="200"}}': lambda second: (second + 4000) * 3,
    f'http_requests_total{{{POD},code="503"}}': lambda second: max(0, second) * 1,
    f'http_request_duration_seconds_bucket{{{POD},le="0.1"}}': lambda second: (second + 4000) * 4,
    f'http_request_duration_seconds_bucket{{{POD},le="+Inf"}}': lambda second: (second + 4000) * 4,
    'queue_length{namespace="shop",queue="mail"}': lambda second: 7 if second < -600 else 90,
    'queue_length{namespace="shop",queue="audit"}': lambda _: 5000,
}


def written():
    seconds = range(-3900, 900, STEP)
    return "".join(
        f"{name} {value(second)} {START.timestamp() + second:.0f}\n"
        for name, value in SERIES.items()
        for second in seconds
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with MetricStore(tmp_path_factory.mktemp("prometheus"), written()) as store:
        yield store


class NoHistory:
    source = "git"

    async def recent_changes(self, target, *, cluster, limit):
        return ()

    async def declared(self, namespace, names, *, cluster, limit):
        return ()


async def investigated(store, tmp_path, expression="", deployed=DEPLOYMENT, **changes):
    (tmp_path / "web.yaml").write_text(deployed)
    link = f"{GRAPH}{urlencode({'g0.expr': expression})}" if expression else ""
    alert = Alert(
        source="alertmanager",
        fingerprint="f",
        status="firing",
        title="QueueLong",
        severity="warning",
        labels={"alertname": "QueueLong", "namespace": "shop", "queue": "mail"},
        starts_at=START,
        links={"source": link} if link else {},
        workload=Workload(namespace="shop", name="web", kind="Deployment"),
    )
    clock = FakeClock(START + timedelta(minutes=10))
    world = World(
        OneCluster(SnapshotCluster(tmp_path)),
        NoHistory(),
        clock,
        Prometheus(Access(store.url)),
    )
    about = alert.model_copy(update=changes)
    return await collectors.collect(about, world, Budget(200, 30, lambda: 0.0))


async def test_how_the_workload_fared_is_told_in_numbers(store, tmp_path):
    case = await investigated(store, tmp_path)
    said = {seen.data.measure: seen.evidence.excerpt.partition("\n")[0] for seen in case.metrics}
    assert set(said) == set(Measure) - {Measure.ALERT}
    assert said[Measure.MEMORY] == (
        "memory working set of container app: 250Mi when the alert began;"
        " limit 256Mi, of which that is 98 %;"
        " before: min 50Mi, median 150Mi, max 250Mi (121 samples);"
        " since: min 250Mi, median 250Mi, max 250Mi (20 samples)"
    )
    assert "0.2 cores when the alert began; limit 0.5 cores, of which that is 40 %" in said[CPU]
    assert "throttled share of the CPU periods of container app: 40 %" in said[Measure.THROTTLING]
    assert "before: min 0, median 0, max 0 (121 samples); since: min 3" in said[Measure.RESTARTS]
    assert "requests: 0 % when the alert began; before: min 0 %" in said[Measure.ERRORS]
    assert "max 25 % (20 samples)" in said[Measure.ERRORS]
    assert "95 ms when the alert began" in said[Measure.LATENCY]
    assert not [seen for seen in case.missing if seen.evidence.source == "prometheus"]


async def test_what_was_measured_leads_back_to_where_it_was_read(store, tmp_path):
    case = await investigated(store, tmp_path)
    memory = case.metrics[0].evidence
    assert (memory.kind, memory.source) == (EvidenceKind.METRIC, "prometheus")
    link = memory.excerpt.rpartition("\n")[2]
    assert link.startswith(f"{store.url}/graph?")
    assert parse_qs(urlsplit(link).query)["g0.expr"] == [memory.query]


async def test_the_side_that_an_alert_compares_is_seen_before_it_fired_too(store, tmp_path):
    case = await investigated(store, tmp_path, 'queue_length{namespace="shop"} > 80')
    (seen,) = (one for one in case.metrics if one.data.measure is Measure.ALERT)
    assert (seen.data.limit, seen.data.at_start.value) == (80, 90)
    assert {one.value for one in seen.data.before} == {7, 90}
    assert "queue mail: 90 when the alert began; it fires while that is > 80" in (
        seen.evidence.excerpt
    )


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("sum(", "Prometheus refuses the query: "),
        ("no_such_metric > 1", "nothing was measured in that hour"),
        ('queue_length{queue="audit"}', "1 series are of something else"),
    ],
)
async def test_an_expression_that_says_nothing_is_missing(store, tmp_path, expression, why):
    case = await investigated(store, tmp_path, expression)
    (seen,) = (one for one in case.missing if one.evidence.source == "prometheus")
    assert why in seen.evidence.excerpt


async def test_a_workload_that_is_not_measured_is_said_to_be_so(store, tmp_path):
    elsewhere = DEPLOYMENT.replace("namespace: shop", "namespace: mail")
    workload = Workload(namespace="mail", name="web", kind="Deployment")
    case = await investigated(store, tmp_path, deployed=elsewhere, workload=workload)
    (seen,) = (one for one in case.missing if one.evidence.source == "prometheus")
    assert seen.evidence.query == "metrics of Deployment mail/web"
