"""A real Alertmanager tells what fires and what is silenced, as our tools read it."""

import os
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tocsin_agents.tools.port import Identity, ToolContext
from tocsin_rca import backends
from tocsin_rca.backends.alertmanager import AlertmanagerOptions
from tocsin_testing.monitoring import Alertmanager, missing

ABSENT = [package for package in missing() if package == "prometheus-alertmanager"]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(ABSENT) and "CI" not in os.environ, reason="no Alertmanager here"),
]

WHO = Identity("ada")


@pytest.fixture
def alertmanager(tmp_path):
    with Alertmanager(tmp_path, {}, ["alertname"]) as running:
        yield running


@pytest.fixture
async def ask(alertmanager):
    options = AlertmanagerOptions(type="alertmanager", url=alertmanager.url)
    (toolset,) = backends.opened({"am": options}).toolsets
    tools = {tool.spec.name: tool for tool in await toolset.tools(WHO)}

    async def call(name, **arguments):
        answer = await tools[name].call(arguments, ToolContext(WHO))
        assert answer.error == ""
        return answer.data

    return call


def silence(alertmanager, **labels):
    now = datetime.now(UTC)
    matchers = [
        {"name": name, "value": value, "isRegex": False, "isEqual": True}
        for name, value in labels.items()
    ]
    wish = {
        "matchers": matchers,
        "startsAt": now.isoformat(),
        "endsAt": (now + timedelta(hours=1)).isoformat(),
        "createdBy": "ana",
        "comment": "a new release is on its way",
    }
    answer = httpx.post(f"{alertmanager.url}/api/v2/silences", json=wish)
    return answer.raise_for_status().json()["silenceID"]


async def test_what_fires_and_what_is_silenced_is_told(alertmanager, ask):
    began = datetime.now(UTC) - timedelta(minutes=5)
    for name in ("cart", "checkout"):
        labels = {"alertname": "Broken", "namespace": "shop", "service": name}
        alertmanager.take({"labels": labels, "startsAt": began.isoformat()})
    silenced = silence(alertmanager, service="cart")

    told = await ask("am.alerts", matchers=['service="cart"'])
    assert told["said"] == "1 alert fires, 1 of them silenced."
    assert told["alerts"][0]["labels"] == {"namespace": "shop", "service": "cart"}
    assert told["alerts"][0]["silenced_by"] == [silenced]
    assert (await ask("am.alerts"))["by_name"] == {"Broken": 2}

    (one,) = (await ask("am.silences"))["silences"]
    assert (one["id"], one["author"], one["matches"]) == (silenced, "ana", ["service=cart"])


async def test_matchers_that_the_server_refuses_are_an_error_that_says_why(ask):
    with pytest.raises(AssertionError, match=r"it answers 400: .*"):
        await ask("am.alerts", matchers=['service=~"("'])
