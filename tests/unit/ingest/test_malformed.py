"""Bodies that are wrong: each gets a 4xx that names what is, and nothing of it is stored.

The endpoint is Alertmanager's. Two of them are right after all: a gzip stream is a body that a
proxy compressed, and names that mean something in another language mean nothing here.
"""

import json
from pathlib import Path

import httpx
import pytest

from tocsin_ingest import receiver as receiver_of_alerts
from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.gate import Gate
from tocsin_testing.fakes import FakeIntake, FakeRuns

FOLDER = Path(__file__).parent / "payloads" / "malformed"
FAULTS = {
    "alerts_object": (422, "alerts"),
    "bad_timestamps": (422, "startsAt"),
    "big_number": (400, "1e400"),
    "bom": (400, "byte order mark"),
    "deep_nesting": (400, "64 levels"),
    "empty": (400, "empty"),
    "form_encoded": (415, "x-www-form-urlencoded"),
    "gzip_bomb": (413, "1048576 bytes"),
    "label_value_nested": (422, "alertname"),
    "labels_list": (422, "labels"),
    "latin1": (400, "not UTF-8"),
    "lone_surrogate": (400, "surrogate"),
    "top_level_array": (422, "Alertmanager notification"),
    "top_level_string": (422, "Alertmanager notification"),
}
VALID = {"gzip": "KubePodCrashLooping", "proto_keys": "x"}
"""By the title of the one alert that is in it."""


async def post(name):
    """Return the answer to a file, and what was stored of it."""
    beside = FOLDER / f"{name}.headers.json"
    headers = json.loads(beside.read_bytes()) if beside.exists() else {}
    intake, runs = FakeIntake(), FakeRuns()
    receiver = receiver_of_alerts.Receiver(intake, runs)
    app = Api(sources.load(), receiver, gate=Gate({}, (), dev=True)).app()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://test"
    ) as client:
        content = (FOLDER / f"{name}.txt").read_bytes()
        answer = await client.post("/webhook/alertmanager", content=content, headers=headers)
    return answer, [*intake.admitted, *intake.told, *runs.created]


@pytest.mark.parametrize("name", FAULTS)
async def test_p1_what_is_wrong_is_named_and_not_stored(name):
    answer, stored = await post(name)
    status, fault = FAULTS[name]
    assert (answer.status_code, stored) == (status, [])
    assert fault in answer.json()["error"]


@pytest.mark.parametrize("name", VALID)
async def test_what_only_looks_wrong_is_an_alert_like_any_other(name):
    answer, stored = await post(name)
    assert answer.status_code == 202
    assert [receipt["status"] for receipt in answer.json()["alerts"]] == ["opened"]
    assert {event.alert.title for event in stored if hasattr(event, "alert")} == {VALID[name]}


def test_every_file_is_one_or_the_other():
    assert {path.stem for path in FOLDER.glob("*.txt")} == FAULTS.keys() | VALID.keys()
