"""What a process counts can be read."""

import httpx
from prometheus_client import Counter
from starlette.applications import Starlette

from tocsin_kit import metrics

COUNTED = Counter("tocsin_tests_seen_total", "What this test counts.", ("outcome",))


async def test_what_was_counted_is_answered_as_prometheus_reads_it():
    COUNTED.labels("good").inc(2)
    transport = httpx.ASGITransport(Starlette(routes=[metrics.route()]))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert 'tocsin_tests_seen_total{outcome="good"} 2.0' in answer.text.splitlines()
