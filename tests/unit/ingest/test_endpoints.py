"""What Alertmanager sends to Opsgenie and VictorOps, at the addresses that it makes for them."""

import json
import logging
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from tocsin_contracts import AlertStatus
from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.senders import Sender
from tocsin_testing.fakes import FakeIntake, FakeRuns

FOLDER = Path(__file__).parent / "payloads"
CREATE = (FOLDER / "opsgenie" / "am025_opsgenie_v2_alerts_01.json").read_bytes()
CLOSE = (FOLDER / "opsgenie" / "am025_opsgenie_v2_alerts_ALIAS_close_01.json").read_bytes()
PAGE = (FOLDER / "victorops" / "am025_victorops_example-vo-key_team-sre_01.json").read_bytes()
ALIAS = json.loads(CREATE)["alias"]
ALERTS = "opsgenie/v2/alerts"
CLOSING = f"{ALERTS}/{ALIAS}/close?identifierType=alias"
TOKEN = "a-general-token-of-ours"
OWN = "a-token-of-this-sender"


class Edge:
    """The endpoint, with a table of senders."""

    def __init__(self, *tokens, **senders):
        self.intake = FakeIntake()
        table = {name: Sender.model_validate(one) for name, one in senders.items()}
        gate = Gate(table, [SecretStr(token) for token in tokens or (TOKEN,)], dev=False)
        receiver = Receiver(self.intake, FakeRuns())
        transport = httpx.ASGITransport(Api(sources.load(), receiver, gate=gate).app())
        self.client = httpx.AsyncClient(transport=transport, base_url="http://test/webhook/")

    async def send(self, path, content, authorization="", method="POST"):
        headers = {"authorization": authorization} if authorization else {}
        return await self.client.request(method, path, content=content, headers=headers)

    async def opsgenie(self, path, content, method="POST"):
        return await self.send(path, content, f"GenieKey {TOKEN}", method)

    @property
    def alerts(self):
        return [alert for _, alert in self.intake.admitted]


async def test_an_alert_that_is_made_by_its_alias_is_closed_by_its_alias():
    edge = Edge()
    made, closed = await edge.opsgenie(ALERTS, CREATE), await edge.opsgenie(CLOSING, CLOSE)
    assert (made.status_code, closed.status_code) == (202, 202)
    first, last = edge.alerts
    assert (first.status, last.status) == (AlertStatus.FIRING, AlertStatus.RESOLVED)
    assert first.fingerprint == last.fingerprint
    assert first.keyed
    assert last.keyed
    assert last.title == f"Opsgenie alert {ALIAS}"


async def test_without_a_priority_the_label_says_how_severe_an_opsgenie_alert_is():
    edge = Edge()
    sent = json.loads(CREATE) | {"priority": ""}
    await edge.opsgenie(ALERTS, json.dumps(sent))
    assert edge.alerts[0].severity_given == sent["details"]["severity"] == "critical"


@pytest.mark.parametrize(
    ("method", "act", "body"),
    [
        ("PUT", "message", {"message": "another text"}),
        ("PUT", "description", {"description": "a longer text"}),
        ("POST", "acknowledge", {"user": "u-17"}),
        ("POST", "notes", {"note": "seen"}),
    ],
)
async def test_what_else_is_done_to_an_opsgenie_alert_is_taken_and_is_no_alert(method, act, body):
    edge = Edge()
    path = f"{ALERTS}/{ALIAS}/{act}?identifierType=alias"
    answer = await edge.opsgenie(path, json.dumps(body), method)
    assert (answer.status_code, answer.json()["status"]) == (202, "nothing to do")
    assert edge.alerts == []


@pytest.mark.parametrize(
    "authorization",
    ["", "GenieKey", "GenieKey ", f"GenieKey {TOKEN}x", f"Genie {TOKEN}", f"Basic {TOKEN}", TOKEN],
)
async def test_whoever_has_no_key_may_neither_make_nor_close_an_alert(authorization):
    edge = Edge()
    for path, content in ((ALERTS, CREATE), (CLOSING, CLOSE)):
        assert (await edge.send(path, content, authorization)).status_code == 401
    assert edge.alerts == []


async def test_two_keys_are_good_while_one_is_changed_for_the_other():
    edge = Edge(opsgenie={"secrets": [OWN, "another-token-of-it"]})
    keys = (OWN, "another-token-of-it", TOKEN)
    answers = [await edge.send(ALERTS, CREATE, f"GenieKey {key}") for key in keys]
    assert [answer.status_code for answer in answers] == [202, 202, 401]


@pytest.mark.parametrize("before", ["", "integrations/generic/20131114/alert/"])
async def test_a_page_for_victorops_proves_itself_by_the_key_in_its_path(before):
    edge = Edge(victorops={"secrets": [OWN, "another-token-of-it"]})
    over = json.dumps(json.loads(PAGE) | {"message_type": "RECOVERY"})
    for key, content in ((OWN, PAGE), ("another-token-of-it", over)):
        assert (await edge.send(f"victorops/{before}{key}/team-sre", content)).status_code == 202
    first, last = edge.alerts
    assert (first.status, last.status) == (AlertStatus.FIRING, AlertStatus.RESOLVED)
    assert first.fingerprint == last.fingerprint
    assert first.labels["routing_key"] == "team-sre"


async def test_custom_fields_of_victorops_say_what_it_is_about():
    edge = Edge()
    about = {"namespace": "shop", "deployment": "cart", "alertname": "KubePodCrashLooping"}
    await edge.send(f"victorops/{TOKEN}/sre", json.dumps(json.loads(PAGE) | about))
    (alert,) = edge.alerts
    assert (alert.workload.namespace, alert.workload.name) == ("shop", "cart")
    assert alert.labels["alertname"] == "KubePodCrashLooping"


@pytest.mark.parametrize("key", ["wrong", TOKEN, OWN + "x", "%00", "%FF", "é" * 20, "-"])
async def test_p4_a_wrong_key_in_the_path_opens_nothing_and_is_told_to_nobody(key, caplog):
    edge = Edge(victorops={"secrets": [OWN]})
    with caplog.at_level(logging.DEBUG, logger="tocsin_ingest"):
        answer = await edge.send(f"victorops/{key}/team-sre", PAGE)
    assert answer.status_code == 401
    assert key == "-" or key not in answer.text + caplog.text
    assert edge.alerts == []


async def test_credentials_in_a_header_go_before_those_of_the_path():
    edge = Edge(victorops={"secrets": [OWN]})
    wrong = await edge.send(f"victorops/{OWN}/sre", PAGE, f"Bearer {TOKEN}")
    right = await edge.send("victorops/none-of-ours/sre", PAGE, f"Bearer {OWN}")
    assert (wrong.status_code, right.status_code) == (401, 202)


async def test_a_key_in_the_path_is_no_password_and_no_signature():
    by_password = Edge(victorops={"auth": "basic", "secrets": ["tocsin:a-long-password"]})
    by_signature = Edge(
        victorops={"auth": "signature", "secrets": ["a-signing-secret"], "header": "x-signature"}
    )
    for edge, key in (
        (by_password, "tocsin:a-long-password"),
        (by_signature, "a-signing-secret"),
    ):
        assert (await edge.send(f"victorops/{key}/sre", PAGE)).status_code == 401


async def test_p4_no_alert_and_no_answer_holds_the_key_of_its_path():
    edge = Edge()
    answers = [
        await edge.send(f"victorops/{TOKEN}/sre", content, method=method)
        for content, method in ((PAGE, "POST"), (b"{}", "POST"), (b"", "POST"), (PAGE, "GET"))
    ]
    answers.append(await edge.send(f"victorops/a/b/c/{TOKEN}", PAGE))
    assert [answer.status_code for answer in answers] == [202, 422, 400, 405, 404]
    told = "".join(answer.text for answer in answers)
    assert TOKEN not in told + edge.alerts[0].model_dump_json()
    assert "GET /webhook/victorops/…: Method Not Allowed" in told


async def test_a_token_in_the_path_of_another_source_says_nothing():
    edge = Edge()
    assert (await edge.send(f"alertmanager/{TOKEN}", b"{}")).status_code == 401
    assert (await edge.send(f"alertmanager/{TOKEN}/sre", b"{}")).status_code == 404
