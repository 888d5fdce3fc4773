"""What every alert source has to do, so that a new one is tested by being named.

A sample is a body as the sender sends it; what its headers say, if they say something, stands
beside it in `<name>.headers.json`.
"""

import json
from pathlib import Path

import pytest

from tocsin_ingest import sources
from tocsin_ingest.ports import BadPayloadError
from tocsin_testing.readings import alerts_of

SAMPLES = Path(__file__).parent / "samples" / "sources"
SOURCES = {source.name: source for source in sources.load()}
EVERY_SOURCE = pytest.mark.parametrize("name", SOURCES)


def payload(name):
    return json.loads((SAMPLES / f"{name}.json").read_bytes())


def read(name, body):
    beside = SAMPLES / f"{name}.headers.json"
    headers = json.loads(beside.read_bytes()) if beside.exists() else {}
    return alerts_of(name, body, headers=headers)


def reversed_keys(value):
    if isinstance(value, dict):
        return {key: reversed_keys(inner) for key, inner in reversed(value.items())}
    return [reversed_keys(inner) for inner in value] if isinstance(value, list) else value


@EVERY_SOURCE
def test_every_source_reads_what_its_sender_sends(name):
    alerts = read(name, payload(name))
    assert {alert.source for alert in alerts} == {name}
    assert all(alert.title and alert.fingerprint for alert in alerts)


@EVERY_SOURCE
def test_the_order_of_fields_says_nothing(name):
    assert read(name, reversed_keys(payload(name))) == read(name, payload(name))


@EVERY_SOURCE
def test_a_field_that_a_source_does_not_know_is_ignored(name):
    assert read(name, payload(name) | {"fromTheFuture": [1]}) == read(name, payload(name))


@EVERY_SOURCE
@pytest.mark.parametrize(
    "body",
    [{}, {"alerts": []}, {"alerts": "all"}, {"alerts": [{}]}, [], [1], "text", 1, None, True],
    ids=str,
)
def test_what_is_no_alert_is_refused_with_a_reason(name, body):
    with pytest.raises(BadPayloadError, match=r"\w+ \w+"):
        read(name, body)


def test_every_source_has_a_sample_and_no_sample_is_left_over():
    names = {path.name.split(".")[0] for path in SAMPLES.glob("*.json")}
    assert names == set(SOURCES)
