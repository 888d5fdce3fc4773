"""The OpenAPI document: what it promises is what is answered, and nothing breaks an endpoint."""

import hashlib
import hmac
import json

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from pydantic import SecretStr
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from tocsin_contracts import ForgeKind
from tocsin_ingest import receiver as receiver_of_alerts
from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.edge.openapi import operations_of
from tocsin_ingest.forge_api import ForgeApi
from tocsin_testing.fakes import FakeIntake, FakeRuns

SECRET = "a-secret-of-the-forge"
PROMISES = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
BOUNDED = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


class Forge:
    """Knows no pull request, and keeps what is published."""

    async def run_of(self, repo, head_branch, url):
        return None

    async def publish(self, event):
        return None


def endpoint():
    receiver = receiver_of_alerts.Receiver(FakeIntake(), FakeRuns())
    secrets = {forge: [SecretStr(SECRET)] for forge in ForgeKind}
    forges = ForgeApi(secrets, Forge(), Forge())
    return Api(sources.load(), receiver, gate=Gate({}, (), dev=True)).app(forges.routes())


APP = endpoint()
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", APP)


def signed(body):
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return {
        "x-hub-signature-256": f"sha256={digest}",
        "x-gitea-signature": digest,
        "x-gitlab-token": SECRET,
    }


@SCHEMA.parametrize()
@BOUNDED
def test_no_request_breaks_an_endpoint_and_every_answer_is_as_promised(case):
    case.call_and_validate(checks=PROMISES)


ODD = [None, True, 0, -1, 1e300, 10**39, "", "x", [], [[]], {}, [{}], {"": ""}]
ODD += [{"alerts": odd} for odd in ODD] + [{"status": odd, "title": odd} for odd in ODD]
EVERY_SOURCE = [source.name for source in sources.load()]


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"alerts": [value], "event": value, "data": value, "labels": value}
    return value


PATHS = [f"/webhook/{name}" for name in EVERY_SOURCE]
PATHS += ["/webhook/opsgenie/v2/alerts", "/webhook/victorops/a-token-of-ours/sre"]
PATHS += ["/chat", *(f"/forge/{forge}" for forge in ForgeKind)]


@pytest.mark.parametrize("path", PATHS)
async def test_p1_no_odd_body_breaks_an_endpoint(path):
    transport = httpx.ASGITransport(APP)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        for odd in [*ODD, nested(4)]:
            body = json.dumps(odd).encode()
            answer = await client.post(path, content=body, headers=signed(body))
            assert answer.status_code in (202, 422), (odd, answer.text)


async def test_the_document_names_every_endpoint_and_every_source():
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(APP), base_url="http://test"
    ) as client:
        document = (await client.get("/openapi.json")).json()
    assert document["openapi"] == "3.1.0"
    operations = operations_of(list(sources.load()))
    assert set(document["paths"]) == {operation.path for operation in operations}
    webhook = document["paths"]["/webhook/{source}"]["post"]
    assert webhook["parameters"][0]["schema"]["enum"] == EVERY_SOURCE
    posts = {
        route.path.replace("{path}", "")
        for route in APP.rest.routes
        if "POST" in (route.methods or ())
    }
    assert posts == set(document["paths"])
