"""The webhook over HTTP: what is accepted is stored; what is refused says why, and is not."""

import json
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr

from tocsin_contracts import AlertAccepted, AlertRepeated, AlertStatus
from tocsin_ingest import receiver as receiver_of_alerts
from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.bodies import Limits
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.senders import Sender
from tocsin_testing.fakes import NOW, FakeClock, FakeIntake, FakeRuns, outage

TOKENS = ("first-token", "second-token")
LIMIT = 16384
PATH = "/webhook/alertmanager"
MINUTE = timedelta(minutes=1)


class Receiver:
    """The endpoint with fakes behind it."""

    def __init__(self, tokens=TOKENS, senders=None, limits=None):
        self.intake = FakeIntake()
        self.runs = FakeRuns()
        self.clock = FakeClock(NOW)
        table = {name: Sender.model_validate(entry) for name, entry in (senders or {}).items()}
        api = Api(
            sources.load(),
            receiver_of_alerts.Receiver(self.intake, self.runs),
            gate=Gate(table, [SecretStr(token) for token in tokens], dev=not (tokens or senders)),
            replica_labels=frozenset({"prometheus_replica"}),
            limits=limits or Limits(body_bytes=LIMIT),
            clock=self.clock,
        )
        self.transport = httpx.ASGITransport(api.app())

    async def post(self, body, path=PATH, token=TOKENS[0], method="POST"):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        async with httpx.AsyncClient(transport=self.transport, base_url="http://test") as client:
            return await client.request(method, path, content=body, headers=headers)

    @property
    def untouched(self):
        return not (self.intake.admitted or self.intake.told or self.runs.created)


@pytest.fixture
def receiver():
    return Receiver()


def firing(pod="cart-0", namespace="shop", **changes):
    labels = {"alertname": "A", "namespace": namespace, "pod": pod}
    return {"status": "firing", "labels": labels} | changes


def body(*alerts):
    return json.dumps({"alerts": list(alerts)}).encode()


async def test_an_accepted_alert_is_answered_with_its_run_and_where_to_look(receiver):
    answer = await receiver.post(body(firing()))
    (run_id,) = receiver.intake.open.values()
    assert answer.status_code == 202
    receipt = answer.json()
    assert receipt["status"] == "accepted"
    assert (receipt["run_id"], receipt["thread_id"]) == (run_id, run_id)
    assert receipt["poll_url"] == f"/api/v1/runs/{run_id}"


async def test_p1_2xx_means_that_the_run_is_made_and_the_alert_told(receiver):
    await receiver.post(body(firing()))
    assert [type(event) for event in receiver.runs.created] == [AlertAccepted]
    assert receiver.intake.told == receiver.runs.created


async def test_p1_every_alert_of_a_batch_has_its_receipt(receiver):
    alerts = [
        firing("cart-0"),
        firing("cart-1"),
        firing("db-0"),
        firing("web-0", status="resolved"),
        firing("cart-0", status="resolved"),
    ]
    receipts = (await receiver.post(body(*alerts))).json()["alerts"]
    statuses = [receipt["status"] for receipt in receipts]
    assert statuses == ["opened", "attached", "opened", "ignored", "resolved"]
    assert receipts[0]["run_id"] == receipts[1]["run_id"] != receipts[2]["run_id"]
    assert (receipts[3]["run_id"], receipts[3]["poll_url"]) == ("", "")
    assert [type(event) for event in receiver.intake.told] == [
        AlertAccepted,
        AlertRepeated,
        AlertAccepted,
    ]
    assert len(receiver.runs.created) == 2


@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parent / "payloads" / "alertmanager").glob("am025_*_01.json")),
    ids=lambda path: path.stem,
)
async def test_what_a_real_alertmanager_sends_is_accepted(path):
    receiver = Receiver(limits=Limits())
    answer = await receiver.post(path.read_bytes())
    assert answer.status_code == 202
    assert len(answer.json()["alerts"]) == len(json.loads(path.read_bytes())["alerts"])


NOT_JSON = {
    "empty": b"",
    "blank": b"  \n",
    "malformed": b'{"alerts": [',
    "two documents": b"{} {}",
    "not text": b"\xff\xfe\x00",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "NaN": b'{"alerts": NaN}',
    "infinity": b'{"alerts": [-Infinity]}',
    "deep nesting": b"[" * 2000,
    "deep objects": b'{"a":' * 700,
    "a number without an end": b'{"n": ' + b"9" * 4300,
    "half a character": b'{"alerts": [{"status": "firing", "annotations": {"a": "\\ud800"}}]}',
    "half a character as a name": b'{"\\udfff": 1}',
}


@pytest.mark.parametrize("what", NOT_JSON)
async def test_a_body_that_is_no_json_is_400_and_nothing_is_admitted(receiver, what):
    answer = await receiver.post(NOT_JSON[what])
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("not JSON: ")
    assert receiver.untouched


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"null",
        b'"text"',
        b"1",
        b"{}",
        b'{"alerts": []}',
        b'{"alerts": {}}',
        body({"status": "firing"}),
        body(firing(labels={})),
        body(firing(labels={"a": None})),
        body(firing(status="unknown")),
        body(firing(startsAt="soon")),
        body(firing(), firing(labels=[])),
    ],
)
async def test_json_that_is_no_notification_is_422_with_a_reason(receiver, content):
    answer = await receiver.post(content)
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert answer.json()["hint"]
    assert receiver.untouched


async def test_one_bad_alert_refuses_the_batch_so_that_none_is_lost_unseen(receiver):
    answer = await receiver.post(body(firing(), firing(status="maybe")))
    assert answer.status_code == 422
    assert "alerts.1.status" in answer.json()["error"]
    assert receiver.untouched


@pytest.mark.parametrize("size", [LIMIT + 1, 10 * LIMIT])
async def test_a_body_over_the_limit_is_413(receiver, size):
    answer = await receiver.post(b" " * size)
    assert answer.status_code == 413
    assert str(LIMIT) in answer.json()["error"]
    assert receiver.untouched


async def test_a_body_that_comes_in_pieces_is_measured_as_a_whole(receiver):
    async def pieces():
        for _ in range(10):
            yield b" " * (LIMIT // 4)

    assert (await receiver.post(pieces())).status_code == 413


async def test_a_body_of_exactly_the_limit_is_read(receiver):
    content = body(firing())
    assert (await receiver.post(content + b" " * (LIMIT - len(content)))).status_code == 202


@pytest.mark.parametrize("token", [None, "", "wrong", "first-token2", "first", "ünïcode"])
async def test_a_stranger_is_401_whatever_is_sent(receiver, token):
    headers = [] if token is None else [(b"authorization", f"Bearer {token}".encode())]
    async with httpx.AsyncClient(transport=receiver.transport, base_url="http://test") as client:
        answer = await client.post(PATH, content=b"not JSON", headers=headers)
    assert answer.status_code == 401
    assert receiver.untouched


@pytest.mark.parametrize("token", TOKENS)
async def test_each_of_two_tokens_is_good_during_a_rotation(receiver, token):
    assert (await receiver.post(body(firing()), token=token)).status_code == 202


async def test_p6_a_token_never_comes_back_in_an_answer(receiver):
    answer = await receiver.post(b"", token="wrong-but-real-elsewhere")
    assert "wrong-but-real-elsewhere" not in answer.text


async def test_a_development_machine_needs_no_token():
    receiver = Receiver(tokens=())
    assert (await receiver.post(body(firing()), token=None)).status_code == 202


@pytest.mark.parametrize("path", ["/webhook/nobody", "/webhook/%E2%98%83", "/webhook/.."])
async def test_an_unknown_source_is_404(receiver, path):
    answer = await receiver.post(body(firing()), path)
    assert answer.status_code == 404
    assert receiver.untouched


async def test_an_unknown_source_is_answered_with_the_known_ones(receiver):
    answer = await receiver.post(body(firing()), "/webhook/nobody")
    assert "alertmanager" in answer.json()["hint"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
async def test_another_method_is_405(receiver, method):
    assert (await receiver.post(b"", method=method)).status_code == 405
    assert receiver.untouched


@pytest.mark.parametrize("part", ["intake", "runs"])
async def test_p1_a_store_that_is_away_is_503_and_asks_to_send_again(receiver, part):
    getattr(receiver, part).down = outage("secret detail of the store")
    answer = await receiver.post(body(firing()))
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "secret detail" not in answer.text
    assert receiver.intake.told == []


async def test_p1_what_is_sent_again_after_a_503_is_attached_or_opened_but_not_lost(receiver):
    receiver.runs.down = outage()
    assert (await receiver.post(body(firing()))).status_code == 503
    receiver.runs.down = None
    answer = await receiver.post(body(firing()))
    assert answer.status_code == 202
    assert answer.json()["run_id"] in receiver.intake.open.values()


async def test_p1_while_no_run_may_open_what_is_about_an_open_one_is_taken(receiver):
    refusals = {"source": "alertmanager", "reason": "stream full"}
    before = REGISTRY.get_sample_value("tocsin_ingest_refusals_total", refusals) or 0
    opened = await receiver.post(body(firing()))
    receiver.intake.may_open = False
    refused = await receiver.post(body(firing("db-0")))
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
    assert REGISTRY.get_sample_value("tocsin_ingest_refusals_total", refusals) == before + 1
    for same in (firing(), firing(status="resolved")):
        answer = await receiver.post(body(same))
        assert (answer.status_code, answer.json()["run_id"]) == (202, opened.json()["run_id"])
    mixed = await receiver.post(body(firing("db-0"), firing(status="resolved")))
    assert mixed.status_code == 503
    receiver.intake.may_open = True
    assert (await receiver.post(body(firing("db-0")))).status_code == 202


@pytest.mark.parametrize(("method", "path"), [("GET", PATH), ("POST", "/"), ("POST", "/webhook")])
async def test_what_is_no_webhook_is_refused_in_the_same_shape(receiver, method, path):
    answer = await receiver.post(b"{}", path=path, method=method)
    assert answer.status_code in (404, 405)
    assert set(answer.json()) == {"error", "hint"}


async def test_a_repeat_is_answered_and_admitted_as_the_first_time(receiver):
    first, again = [await receiver.post(body(firing())) for _ in range(2)]
    assert first.json()["run_id"] == again.json()["run_id"]
    one, other = receiver.intake.admitted
    assert one == other


async def test_the_same_body_of_another_sender_is_another_alert(receiver):
    for path in (PATH, f"{PATH}/eu"):
        await receiver.post(body(firing()), path)
    assert [alert.instance for _, alert in receiver.intake.admitted] == ["", "eu"]


async def test_a_repeat_of_a_stranger_is_refused(receiver):
    await receiver.post(body(firing()))
    assert (await receiver.post(body(firing()), token="wrong")).status_code == 401


async def test_an_alert_that_only_its_end_tells_about_is_over_once_that_has_passed(receiver):
    ends_soon = {"labels": {"alertname": "A"}, "endsAt": (NOW + MINUTE).isoformat()}
    for _ in range(2):
        await receiver.post(body(ends_soon))
        receiver.clock.advance(2 * MINUTE.total_seconds())
    statuses = [alert.status for _, alert in receiver.intake.admitted]
    assert statuses == [AlertStatus.FIRING, AlertStatus.RESOLVED]
