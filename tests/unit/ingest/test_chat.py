"""A message of a person becomes one alert: the same one when it is sent again."""

import json
from datetime import timedelta

import httpx
import pytest
from pydantic import SecretStr

from tocsin_contracts import AlertStatus, Severity
from tocsin_ingest import sources
from tocsin_ingest.alerts import Identity, alert_of
from tocsin_ingest.api import Api
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.ports import BadPayloadError, Delivery
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.sources.chat import Chat
from tocsin_testing.fakes import FakeIntake, FakeRuns
from tocsin_testing.readings import RECEIVED, alerts_of


def alert(message="checkout is slow", *, key="", at=RECEIVED, **fields):
    headers = {"idempotency-key": key} if key else {}
    delivery = Delivery(payload={"message": message} | fields, headers=headers, received_at=at)
    (reading,) = Chat().parse(delivery)
    return alert_of(reading, Identity(source="chat"))


def test_a_message_is_a_firing_alert_that_says_what_was_said():
    said = alert("checkout is slow\nsince nine", severity="p1", title="Slow checkout")
    assert (said.source, said.status, said.title) == ("chat", AlertStatus.FIRING, "Slow checkout")
    assert said.summary == said.annotations["message"] == "checkout is slow\nsince nine"
    assert (said.severity, said.severity_given) == (Severity.CRITICAL, "p1")


def test_the_first_line_stands_in_for_a_title_and_nothing_for_a_severity():
    said = alert("checkout is slow\nsince nine")
    assert (said.title, said.severity) == ("checkout is slow", Severity.UNKNOWN)
    assert len(alert("word " * 100).title) == 120


@pytest.mark.parametrize("absent", [{}, dict.fromkeys(("title", "severity", "labels", "clusters"))])
def test_only_the_message_is_needed(absent):
    assert alert(**absent).title == "checkout is slow"


def test_the_same_key_is_the_same_alert_whatever_it_says_and_whenever():
    first = alert(key="k1", labels={"team": "a"})
    later = RECEIVED + timedelta(days=1)
    assert alert("other words", key="k1", at=later).fingerprint == first.fingerprint
    assert alert(key="k2").fingerprint != first.fingerprint


def test_without_a_key_the_same_words_within_a_minute_are_one_alert():
    first = alert(labels={"team": "a", "cluster": "eu"})
    again = alert(labels={"cluster": "eu", "team": "a"}, at=RECEIVED + timedelta(seconds=59))
    assert again.fingerprint == first.fingerprint
    others = [
        alert(labels={"team": "a", "cluster": "eu"}, at=RECEIVED + timedelta(seconds=61)),
        alert("other words", labels={"team": "a", "cluster": "eu"}),
        alert(labels={"team": "b", "cluster": "eu"}),
    ]
    assert first.fingerprint not in {other.fingerprint for other in others}


def test_a_key_cannot_be_mistaken_for_words():
    words = alert()
    (reading,) = Chat().parse(Delivery(payload={"message": "checkout is slow"},
                                       received_at=RECEIVED))  # fmt: skip
    assert alert(key=reading.key).fingerprint != words.fingerprint


def test_labels_and_one_cluster_say_where_to_look():
    said = alert(labels={"namespace": "shop", "deployment": "cart"}, clusters=["eu-1"])
    assert said.workload is not None
    assert (said.workload.cluster, said.workload.name) == ("eu-1", "cart")
    named = alert(labels={"cluster": "us-1"}, clusters=["eu-1"])
    assert named.labels["cluster"] == "us-1"


def test_of_several_clusters_none_is_guessed():
    said = alert(labels={"namespace": "shop", "deployment": "cart"}, clusters=["eu-1", "us-1"])
    assert "cluster" not in said.labels
    assert said.annotations["clusters"] == "eu-1, us-1"


def test_labels_are_plain_values():
    said = alert(labels={"replicas": 3, "canary": True, "nested": {"a": 1}, "none": None})
    assert said.labels == {"replicas": "3", "canary": "true"}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "message"),
        ({"message": "  \n"}, "message"),
        ({"message": 7}, "message"),
        ({"message": "x", "labels": ["a"]}, "labels"),
        ({"message": "x", "clusters": "eu-1"}, "clusters"),
        ({"message": "x", "clusters": [""]}, "clusters.0"),
    ],
    ids=json.dumps,
)
def test_what_is_missing_or_wrong_is_named(body, named):
    with pytest.raises(BadPayloadError, match=named):
        alerts_of("chat", body)


def test_a_key_without_an_end_is_refused():
    with pytest.raises(BadPayloadError, match="Idempotency-Key"):
        alert(key="k" * 256)


def test_a_message_of_any_length_is_cut_and_its_secrets_are_masked():
    said = alert("the token is ghp_" + "a" * 36 + " " + "word " * 10_000)
    assert "[redacted]" in said.summary
    assert "ghp_a" not in said.model_dump_json()
    assert len(said.model_dump_json()) < 16_384


TOKEN = "a-token-of-the-tests"


@pytest.fixture
def chat():
    gate = Gate({}, [SecretStr(TOKEN)], dev=False)
    api = Api(sources.load(), Receiver(FakeIntake(), FakeRuns()), gate=gate)
    transport = httpx.ASGITransport(api.app())

    async def post(body, *, key="", token=TOKEN):
        headers = {"Authorization": f"Bearer {token}"} | ({"Idempotency-Key": key} if key else {})
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.post("/chat", json=body, headers=headers)

    return post


async def test_p1_a_message_that_is_answered_with_202_has_a_run_to_look_at(chat):
    answer = await chat({"message": "checkout is slow"}, key="k1")
    said = answer.json()
    assert (answer.status_code, said["status"]) == (202, "accepted")
    assert said["run_id"] == said["thread_id"] == said["alerts"][0]["run_id"]
    assert said["poll_url"] == f"/api/v1/runs/{said['run_id']}"


async def test_the_same_key_twice_is_the_same_run(chat):
    first, again, other = [
        (await chat({"message": message}, key=key)).json()["run_id"]
        for message, key in (("slow", "k1"), ("still slow", "k1"), ("slow", "k2"))
    ]
    assert first == again != other


async def test_only_a_known_sender_may_say_anything(chat):
    assert (await chat({"message": "checkout is slow"}, token="another-token")).status_code == 401
    assert (await chat({"text": "checkout is slow"})).status_code == 422
