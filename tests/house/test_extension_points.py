"""What every alert source and every channel has to do, so that a new one is tested by being named.

Analyzers have their samples in tests/unit/rca, checks in tests/contract/test_checks.py.
"""

import json
import pkgutil
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from tocsin_contracts import RunId
from tocsin_ingest import sources
from tocsin_ingest.ports import BadPayloadError
from tocsin_kit.errors import PermanentError
from tocsin_notifier import channels
from tocsin_notifier.channels.webhook import WebhookChannel
from tocsin_notifier.ports import Message

SAMPLES = Path(__file__).parent / "samples"
SOURCES = {source.name: source for source in sources.load()}
EVERY_SOURCE = pytest.mark.parametrize("name", SOURCES)
REPLICAS = frozenset({"prometheus"})


def payload(name):
    return json.loads((SAMPLES / "sources" / f"{name}.json").read_bytes())


def reversed_keys(value):
    if isinstance(value, dict):
        return {key: reversed_keys(inner) for key, inner in reversed(value.items())}
    return [reversed_keys(inner) for inner in value] if isinstance(value, list) else value


@EVERY_SOURCE
def test_every_source_reads_what_its_sender_sends(name):
    alerts = SOURCES[name].parse(payload(name), REPLICAS)
    assert {alert.source for alert in alerts} == {name}
    assert all(alert.title and alert.fingerprint for alert in alerts)


@EVERY_SOURCE
def test_the_order_of_fields_says_nothing(name):
    source = SOURCES[name]
    assert source.parse(reversed_keys(payload(name)), REPLICAS) == source.parse(
        payload(name), REPLICAS
    )


@EVERY_SOURCE
def test_a_field_that_a_source_does_not_know_is_ignored(name):
    source = SOURCES[name]
    newer = payload(name) | {"fromTheFuture": [1]}
    assert source.parse(newer, REPLICAS) == source.parse(payload(name), REPLICAS)


@EVERY_SOURCE
@pytest.mark.parametrize("body", [{}, {"alerts": []}, {"alerts": "all"}, {"alerts": [{}]}], ids=str)
def test_what_is_no_alert_is_refused_with_a_reason(name, body):
    with pytest.raises(BadPayloadError, match=r"\w+ \w+"):
        SOURCES[name].parse(body, REPLICAS)


async def logged(message):
    with capture_logs() as lines:
        await channels.load(("log",), None)[0].send(message)
    return str(lines)


async def posted(message):
    requests = []

    def answer(request):
        requests.append(request)
        return httpx.Response(200)

    channel = WebhookChannel("https://chat.example/hook", httpx.MockTransport(answer))
    await channel.send(message)
    return str([json.loads(request.content) for request in requests])


CHANNELS = [module.name for module in pkgutil.iter_modules(channels.__path__)]
SHOWN = {"log": logged, "webhook": posted}
"""For each channel, how to see what it shows."""

MESSAGE = Message(id="e1", run_id=RunId("r1"), title="Approve? A plan", text="Plan 0123456789ab.")


@pytest.mark.parametrize("name", CHANNELS)
async def test_every_channel_shows_the_whole_message(name):
    shown = await SHOWN[name](MESSAGE)
    assert MESSAGE.title in shown
    assert MESSAGE.text in shown


def test_every_channel_can_be_asked_for_by_its_name():
    loaded = channels.load(list(SHOWN), SecretStr("https://chat.example/hook"))
    assert [channel.name for channel in loaded] == list(SHOWN)


def test_a_channel_that_does_not_exist_stops_the_service_with_the_names_of_those_that_do():
    with pytest.raises(PermanentError, match="no 'pigeon'; known: log"):
        channels.load(["pigeon"], None)
