"""Senders: each proves who it is in its own way, sends no more than it may, and fails closed."""

import asyncio
import base64
import contextlib
import copy
import hashlib
import hmac
import json
from pathlib import Path

import httpx
import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr, ValidationError

from tocsin_ingest import receiver as receiver_of_alerts
from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.bodies import Limits
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.edge.rates import Rates
from tocsin_ingest.senders import RATE, Sender
from tocsin_ingest.settings import Settings
from tocsin_kit.errors import PermanentError
from tocsin_testing.fakes import NOW, FakeClock, FakeIntake, FakeRuns

TOKEN = "a-general-token-of-ours"
SECRET = "a-secret-that-signs"
LABELS = {"alertname": "A", "namespace": "shop", "pod": "cart-0"}


def body(*labels):
    alerts = [{"status": "firing", "labels": one} for one in labels or (LABELS,)]
    return json.dumps({"alerts": alerts, "status": "firing"}).encode()


BODY = body()


class Endpoint:
    """The endpoint with a table of senders."""

    def __init__(self, tokens=(TOKEN,), dev=False, limits=None, peer="127.0.0.1", **senders):
        self.intake = FakeIntake()
        self.clock = FakeClock(NOW)
        table = {
            name.replace("_", "/"): Sender.model_validate(one) for name, one in senders.items()
        }
        self.app = Api(
            sources.load(),
            receiver_of_alerts.Receiver(self.intake, FakeRuns()),
            gate=Gate(table, [SecretStr(token) for token in tokens], dev=dev),
            replica_labels=frozenset({"replica"}),
            limits=limits,
            clock=self.clock,
        ).app()
        self._transport = httpx.ASGITransport(self.app, client=(peer, 1234))

    def from_peer(self, peer):
        """Return the same endpoint as another address sees it."""
        seen = copy.copy(self)
        seen._transport = httpx.ASGITransport(self.app, client=(peer, 1234))
        return seen

    async def post(self, path, content=BODY, **headers):
        named = [(name.replace("_", "-"), value) for name, value in headers.items()]
        return await self.send(path, content, named)

    async def send(self, path, content, headers):
        async with httpx.AsyncClient(transport=self._transport, base_url="http://test") as client:
            return await client.post(f"/webhook/{path}", content=content, headers=headers)

    async def status(self, path, content=BODY, **headers):
        return (await self.post(path, content, **headers)).status_code


def bearer(token):
    return f"Bearer {token}"


def basic(pair):
    return "Basic " + base64.b64encode(pair.encode()).decode()


def signature(content=BODY, secret=SECRET):
    return hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()


async def test_a_sender_with_an_entry_of_its_own_is_not_known_by_the_general_token():
    endpoint = Endpoint(grafana={"secrets": ["a-token-of-grafanas"]})
    assert await endpoint.status("grafana", authorization=bearer("a-token-of-grafanas")) == 202
    assert await endpoint.status("grafana", authorization=bearer(TOKEN)) == 401
    assert await endpoint.status("alertmanager", authorization=bearer(TOKEN)) == 202
    foreign = await endpoint.status("alertmanager", authorization=bearer("a-token-of-grafanas"))
    assert foreign == 401


async def test_an_instance_with_an_entry_goes_before_all_of_its_kind():
    endpoint = Endpoint(
        grafana={"secrets": ["a-token-for-them-all"]},
        grafana_eu={"secrets": ["a-token-for-the-eu"]},
    )
    assert await endpoint.status("grafana/eu", authorization=bearer("a-token-for-the-eu")) == 202
    assert await endpoint.status("grafana/eu", authorization=bearer("a-token-for-them-all")) == 401
    assert await endpoint.status("grafana/us", authorization=bearer("a-token-for-them-all")) == 202
    assert await endpoint.status("grafana", authorization=bearer("a-token-for-the-eu")) == 401


@pytest.mark.parametrize(
    "instance",
    [
        "eu%00alertname%01A",
        "eu%0A",
        "%E2%80%AEeu",
        "%FF",
        "e%CC%81u",
        "-eu",
        "a" * 64,
        "eu%20",
    ],
)
async def test_no_instance_is_called_so_that_its_alerts_look_like_those_of_another(instance):
    endpoint = Endpoint(grafana={"secrets": ["a-token-for-them-all"]})
    answer = await endpoint.post(
        f"grafana/{instance}", authorization=bearer("a-token-for-them-all")
    )
    assert (answer.status_code, endpoint.intake.admitted) == (404, [])
    assert "letters" in answer.json()["hint"]


async def test_without_a_general_token_a_source_without_an_entry_is_closed():
    endpoint = Endpoint(tokens=(), grafana={"secrets": ["a-token-of-grafanas"]})
    for token in ("", "x", "a-token-of-grafanas"):
        assert await endpoint.status("alertmanager", authorization=bearer(token)) == 401


@pytest.mark.parametrize("pair", ["alerts:long-password", "alerts:the-new-password"])
async def test_a_password_is_good_and_so_is_its_successor(pair):
    entry = {"auth": "basic", "secrets": ["alerts:long-password", "alerts:the-new-password"]}
    endpoint = Endpoint(alertmanager=entry)
    assert await endpoint.status("alertmanager", authorization=basic(pair)) == 202


@pytest.mark.parametrize(
    "given",
    [
        "",
        basic("alerts:wrong-password"),
        basic("alerts"),
        basic(""),
        "Basic alerts:long-password",
        "Basic é",
        "Basic ====",
        "Bearer alerts:long-password",
        "Basic",
    ],
)
async def test_another_password_is_401(given):
    endpoint = Endpoint(alertmanager={"auth": "basic", "secrets": ["alerts:long-password"]})
    sent = [(b"authorization", given.encode())]
    assert (await endpoint.send("alertmanager", BODY, sent)).status_code == 401


async def test_a_body_is_taken_only_as_it_was_signed():
    endpoint = Endpoint(grafana={"auth": "signature", "secrets": ["an-old-secret", SECRET]})
    header = "x_grafana_alerting_signature"
    assert await endpoint.status("grafana", **{header: signature()}) == 202
    assert await endpoint.status("grafana", BODY + b" ", **{header: signature()}) == 401
    assert await endpoint.status("grafana", authorization=bearer(TOKEN)) == 401
    assert len(endpoint.intake.admitted) == 1


async def test_what_is_not_signed_is_not_even_decoded():
    endpoint = Endpoint(grafana={"auth": "signature", "secrets": [SECRET]})
    for garbage in (b"", b"\xff", b"[" * 9999):
        assert await endpoint.status("grafana", garbage) == 401


async def test_grafana_signs_the_time_too_if_it_is_told_to():
    entry = {"auth": "signature", "secrets": [SECRET], "timestamp_header": "X-Grafana-Time"}
    endpoint = Endpoint(grafana=entry)
    time = str(int(NOW.timestamp()))
    timed = signature(time.encode() + b":" + BODY)
    header = "x_grafana_alerting_signature"
    assert await endpoint.status("grafana", **{header: signature()}) == 401
    assert await endpoint.status("grafana", x_grafana_time=time, **{header: timed}) == 202
    endpoint.clock.advance(301)
    assert await endpoint.status("grafana", x_grafana_time=time, **{header: timed}) == 401


async def test_a_sender_without_a_scheme_of_its_own_signs_as_it_is_described():
    entry = {
        "auth": "signature",
        "secrets": [SECRET],
        "header": "X-Signature",
        "prefix": "hmac=",
        "encoding": "base64",
    }
    digest = hmac.new(SECRET.encode(), BODY, hashlib.sha256).digest()
    written = "hmac=" + base64.b64encode(digest).decode()
    endpoint = Endpoint(datadog=entry, alertmanager=entry)
    assert await endpoint.status("alertmanager", x_signature=written) == 202
    assert await endpoint.status("alertmanager", x_signature=signature()) == 401


async def test_a_sender_may_sign_as_another_does():
    entry = {"auth": "signature", "secrets": [SECRET], "scheme": "github"}
    endpoint = Endpoint(alertmanager=entry)
    signed = f"sha256={signature()}"
    assert await endpoint.status("alertmanager", x_hub_signature_256=signed) == 202


PROXY = {
    "auth": "proxy",
    "subjects": ["CN=alertmanager,O=shop"],
    "networks": ["10.1.0.0/16", "fd00::/8"],
}


@pytest.mark.parametrize("peer", ["10.1.2.3", "fd00::1"])
async def test_a_proxy_of_ours_may_say_whose_certificate_it_saw(peer):
    endpoint = Endpoint(peer=peer, alertmanager=PROXY)
    subject = "CN=alertmanager,O=shop"
    assert await endpoint.status("alertmanager", x_client_subject=subject) == 202
    assert await endpoint.status("alertmanager", x_client_subject="CN=other") == 401
    assert await endpoint.status("alertmanager") == 401
    twice = [("x-client-subject", "CN=other"), ("x-client-subject", subject)]
    for headers in (twice, twice[::-1]):
        assert (await endpoint.send("alertmanager", BODY, headers)).status_code == 401


@pytest.mark.parametrize("peer", ["10.2.0.1", "127.0.0.1", "testclient", "::ffff:10.1.2.3"])
async def test_whoever_else_writes_the_header_of_a_proxy_is_401(peer):
    endpoint = Endpoint(peer=peer, alertmanager=PROXY)
    subject, forwarded = "CN=alertmanager,O=shop", "10.1.2.3"
    answer = await endpoint.post(
        "alertmanager", x_client_subject=subject, x_forwarded_for=forwarded
    )
    assert answer.status_code == 401


@pytest.mark.parametrize("names", [["labels.alertname", "labels.env"], ["alertname", "env"]])
async def test_d01_configured_labels_are_the_identity_however_they_are_written(names):
    endpoint = Endpoint(
        tokens=(), dev=True, alertmanager={"auth": "none", "identity_labels": names}
    )
    first = {"alertname": "DiskFull", "env": "dc1", "host": "a"}
    alerts = [first, first | {"host": "b"}, first | {"env": "dc2"}]
    answer = await endpoint.post("alertmanager", body(*alerts))
    one, same, other = (receipt["fingerprint"] for receipt in answer.json()["alerts"])
    assert one == same != other


async def test_a_sender_has_replica_labels_of_its_own():
    entry = {"secrets": ["a-token-of-16-ch"], "replica_labels": ["ha"]}
    endpoint = Endpoint(alertmanager=entry)
    alerts = [LABELS | {"ha": "1"}, LABELS | {"ha": "2"}, LABELS | {"replica": "1"}]
    answer = await endpoint.post(
        "alertmanager", body(*alerts), authorization=bearer("a-token-of-16-ch")
    )
    one, same, other = (receipt["fingerprint"] for receipt in answer.json()["alerts"])
    assert one == same != other


async def test_a_sender_that_sends_too_much_waits_and_the_others_do_not():
    endpoint = Endpoint(alertmanager={"secrets": ["a-token-of-16-ch"], "rate": 60})
    sent = [LABELS | {"n": str(number)} for number in range(60)]
    token = bearer("a-token-of-16-ch")
    assert await endpoint.status("alertmanager", body(*sent), authorization=token) == 202
    answer = await endpoint.post("alertmanager", authorization=token)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert await endpoint.status("grafana", authorization=bearer(TOKEN)) == 202
    endpoint.clock.advance(2)
    assert await endpoint.status("alertmanager", authorization=token) == 202


async def test_only_senders_that_honour_a_429_get_one():
    endpoint = Endpoint(pagerduty={"secrets": ["a-token-of-16-ch"], "rate": 1})
    token = bearer("a-token-of-16-ch")
    statuses = [await endpoint.status("pagerduty", b"{}", authorization=token) for _ in range(2)]
    assert statuses[1] == 429


async def test_a_stranger_uses_up_nothing_of_what_a_sender_may_send():
    endpoint = Endpoint(grafana={"auth": "signature", "secrets": [SECRET], "rate": 2})
    for _ in range(9):
        assert await endpoint.status("grafana") == 401
    assert await endpoint.status("grafana", x_grafana_alerting_signature=signature()) == 202


def test_p1_a_storm_of_10000_alerts_in_a_minute_is_below_what_a_sender_may_send():
    rates = Rates()
    for second in range(60):
        for _ in range(167):
            assert rates.wait("alertmanager", RATE, second) == 0
            rates.charge("alertmanager", RATE, 1, second)
    assert RATE / 60 > 1000


async def never():
    yield BODY[:10]
    await asyncio.Event().wait()


async def test_a_body_that_does_not_come_is_408():
    endpoint = Endpoint(limits=Limits(read_seconds=0.05))
    answer = await endpoint.post("alertmanager", never(), authorization=bearer(TOKEN))
    assert answer.status_code == 408
    assert answer.headers["connection"] == "close"


def counted(name, **labels):
    return REGISTRY.get_sample_value(name, labels) or 0


async def settled():
    for _ in range(20):
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def under_way(*requests):
    """Hold requests whose bodies do not come; yields their tasks."""
    tasks = [asyncio.ensure_future(request) for request in requests]
    await settled()
    yield tasks
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def refused(tasks):
    return [task.result().status_code for task in tasks if task.done()]


async def test_p1_above_so_many_requests_at_once_the_next_is_503():
    endpoint = Endpoint(limits=Limits(in_flight=2, per_sender=1, read_seconds=30))
    token = bearer(TOKEN)
    slow = [
        endpoint.post(source, never(), authorization=token) for source in ("grafana", "datadog")
    ]
    async with under_way(*slow):
        answer = await endpoint.post("alertmanager", authorization=token)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
    assert await endpoint.status("alertmanager", authorization=token) == 202


@pytest.mark.parametrize(
    ("limits", "share"),
    [
        (Limits(in_flight=8, read_seconds=30), 2),
        (Limits(in_flight=3, read_seconds=30), 1),
        (Limits(in_flight=8, per_sender=5, read_seconds=30), 5),
    ],
    ids=str,
)
async def test_p1_a_sender_that_holds_all_its_places_leaves_those_of_others(limits, share):
    endpoint = Endpoint(limits=limits, grafana={"secrets": ["a-token-of-grafanas"]})
    token, reasons = bearer("a-token-of-grafanas"), "tocsin_ingest_refusals_total"
    before = counted(reasons, source="grafana", reason="busy sender")
    hostile = [endpoint.post("grafana", never(), authorization=token) for _ in range(9)]
    async with under_way(*hostile) as tasks:
        assert refused(tasks) == [503] * (9 - share)
        answer = await endpoint.post("grafana", authorization=token)
        assert answer.json()["error"] == f"{share} requests of 'grafana' are being worked on"
        assert int(answer.headers["retry-after"]) > 0
        assert await endpoint.status("alertmanager", authorization=bearer(TOKEN)) == 202
    assert counted(reasons, source="grafana", reason="busy sender") == before + 10 - share
    assert await endpoint.status("grafana", authorization=token) == 202


async def test_p1_strangers_take_no_place_of_a_sender_who_is_known():
    limits = Limits(in_flight=8, read_seconds=30)
    endpoint = Endpoint(limits=limits, grafana={"auth": "signature", "secrets": [SECRET]})
    reasons = "tocsin_ingest_refusals_total"
    before = counted(reasons, source="grafana", reason="busy strangers")
    hostile = [endpoint.post("grafana", never()) for _ in range(9)]
    async with under_way(*hostile) as tasks:
        assert refused(tasks) == [503] * 7
        assert await endpoint.status("alertmanager", authorization=bearer(TOKEN)) == 202
        elsewhere = endpoint.from_peer("10.9.9.9")
        signed = {"x_grafana_alerting_signature": signature()}
        assert await elsewhere.status("grafana", **signed) == 202
    assert counted(reasons, source="grafana", reason="busy strangers") == before + 7


async def test_p1_strangers_of_many_addresses_take_half_of_all_places():
    limits = Limits(in_flight=8, read_seconds=30)
    endpoint = Endpoint(limits=limits, grafana={"auth": "signature", "secrets": [SECRET]})
    peers = [endpoint.from_peer(f"10.9.9.{number}") for number in range(9)]
    async with under_way(*(peer.post("grafana", never()) for peer in peers)) as tasks:
        assert refused(tasks) == [503] * 5
        assert await endpoint.status("alertmanager", authorization=bearer(TOKEN)) == 202


async def test_p1_a_place_is_its_senders_once_the_signature_is_seen():
    limits = Limits(in_flight=4, per_sender=1, read_seconds=30)
    endpoint = Endpoint(limits=limits, grafana={"auth": "signature", "secrets": [SECRET]})
    signed = {"x_grafana_alerting_signature": signature()}
    tell, endpoint.intake.tell = endpoint.intake.tell, lambda _: asyncio.Event().wait()
    async with under_way(endpoint.post("grafana", **signed)):
        answer = await endpoint.post("grafana", **signed)
        assert answer.json()["error"] == "1 requests of 'grafana' are being worked on"
        async with under_way(endpoint.post("grafana", never())) as strangers:
            assert refused(strangers) == []
    endpoint.intake.tell = tell
    assert await endpoint.status("grafana", **signed) == 202


async def test_p1_with_one_place_in_all_whoever_comes_first_has_it():
    limits = Limits(in_flight=1, read_seconds=30)
    endpoint = Endpoint(limits=limits, peer="", grafana={"auth": "signature", "secrets": [SECRET]})
    signed = {"x_grafana_alerting_signature": signature()}
    assert await endpoint.status("grafana", **signed) == 202
    assert await endpoint.status("alertmanager", authorization=bearer(TOKEN)) == 202


async def test_a_body_that_says_it_is_too_large_is_not_read():
    endpoint = Endpoint(limits=Limits(body_bytes=100))
    headers = [("authorization", bearer(TOKEN)), ("content-length", "101")]
    assert (await endpoint.send("alertmanager", never(), headers)).status_code == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"content_encoding": "br"},
        {"content_type": "application/x-www-form-urlencoded", "content": b"payload=%7B%7D"},
        {"content_type": "multipart/form-data; boundary=x"},
    ],
    ids=str,
)
async def test_what_cannot_be_read_is_415(headers):
    endpoint = Endpoint()
    assert await endpoint.status("alertmanager", authorization=bearer(TOKEN), **headers) == 415


@pytest.mark.parametrize(
    "kind", ["", "text/plain; charset=UTF-8", "application/x-www-form-urlencoded"]
)
async def test_json_is_read_whatever_it_is_called(kind):
    endpoint = Endpoint()
    answer = await endpoint.status("alertmanager", content_type=kind, authorization=bearer(TOKEN))
    assert answer == 202


async def test_a_form_is_read_by_a_source_that_takes_forms():
    endpoint = Endpoint()
    form = b"entity_id=disk%2Fdb&message_type=CRITICAL&state_message=full"
    answer = await endpoint.post(
        "victorops",
        form,
        content_type="application/x-www-form-urlencoded",
        authorization=bearer(TOKEN),
    )
    assert answer.status_code == 202, answer.text


async def test_every_refusal_is_counted_by_its_reason_and_every_alert_by_what_became_of_it():
    endpoint = Endpoint()
    refusals, alerts = "tocsin_ingest_refusals_total", "tocsin_ingest_alerts_total"

    def counts():
        return (
            counted(refusals, source="alertmanager", reason="stranger"),
            counted(refusals, source="unknown", reason="stranger"),
            counted(alerts, source="alertmanager", outcome="opened"),
        )

    before = counts()
    await endpoint.post("alertmanager")
    await endpoint.post("a-name-that-a-stranger-chose")
    await endpoint.post("alertmanager", authorization=bearer(TOKEN))
    assert counts() == tuple(count + 1 for count in before)
    everything = {
        sample.labels.get("source") for one in REGISTRY.collect() for sample in one.samples
    }
    assert "a-name-that-a-stranger-chose" not in everything


def loaded(monkeypatch, senders, **settings):
    monkeypatch.setenv("TOCSIN_SENDERS", json.dumps(senders))
    for name, value in settings.items():
        monkeypatch.setenv(f"TOCSIN_{name.upper()}", value)
    return Settings.load()


def test_a_table_of_senders_is_enough_to_start(monkeypatch):
    entry = {"auth": "signature", "secrets": [SECRET]}
    assert loaded(monkeypatch, {"grafana/eu": entry}).senders["grafana/eu"].texts == [SECRET]


@pytest.mark.parametrize(
    ("name", "entry", "said"),
    [
        ("grafana", {}, "needs `secrets`"),
        ("grafana", {"secrets": []}, "needs `secrets`"),
        ("grafana", {"auth": "signature"}, "needs `secrets`"),
        ("grafana", {"secrets": ["hunter2-hunter2"]}, "number 1 can be guessed"),
        ("grafana", {"secrets": [TOKEN, "  hunter2         "]}, "number 2 can be guessed"),
        ("grafana", {"auth": "signature", "secrets": ["hunter2"]}, "can be guessed"),
        ("grafana", {"auth": "basic", "secrets": ["hunter2-hunter2"]}, "user:password"),
        ("grafana", {"auth": "proxy", "subjects": ["CN=a"]}, "networks"),
        ("grafana", {"auth": "proxy", "networks": ["10.0.0.0/8"]}, "subjects"),
        ("grafana", {"auth": "proxy", "subjects": ["a"], "networks": ["here"]}, "networks"),
        ("cloudwatch", {"auth": "sns"}, "topics"),
        ("grafana", {"auth": "none"}, "TOCSIN_DEV"),
        ("grafana", {"auth": "magic"}, "auth"),
        ("grafana", {"secret": TOKEN}, "secret"),
        ("grafana", {"secrets": [TOKEN], "rate": 0}, "rate"),
        ("datadog", {"auth": "signature", "secrets": [SECRET]}, "`scheme`"),
        ("datadog", {"auth": "signature", "secrets": [SECRET], "scheme": "svix"}, "whsec_"),
        ("grafana/", {"secrets": [TOKEN]}, "<source>/<instance>"),
        ("/eu", {"secrets": [TOKEN]}, "<source>/<instance>"),
        ("grafana/eu/1", {"secrets": [TOKEN]}, "<source>/<instance>"),
    ],
)
def test_p6_a_sender_that_could_be_anybody_stops_the_start_and_no_secret_shows(
    monkeypatch, name, entry, said
):
    with pytest.raises(PermanentError) as refused:
        loaded(monkeypatch, {name: entry})
    assert said in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert SECRET not in str(refused.value)


def test_anybody_may_send_on_a_development_machine_only(monkeypatch):
    assert loaded(monkeypatch, {"grafana": {"auth": "none"}}, dev="true").dev


def test_an_entry_for_a_source_that_does_not_exist_is_named():
    gate = Gate({"grafanna/eu": Sender(secrets=(SecretStr(TOKEN),))}, (), dev=False)
    with pytest.raises(PermanentError, match=r"no 'grafanna'; known: .*alertmanager"):
        gate.check_names(sources.load())


def test_p6_no_secret_shows_where_a_sender_is_printed():
    assert SECRET not in repr(Sender(secrets=(SecretStr(SECRET),)))
    with pytest.raises(ValidationError):
        Sender(secrets=())


def test_the_table_of_the_documentation_is_one_that_starts(monkeypatch, tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "sources.md").read_text(encoding="utf-8")
    table = page.partition("## Who may send")[2].partition("```toml\n")[2].partition("```")[0]
    config = tmp_path / "tocsin.toml"
    config.write_text(table, encoding="utf-8")
    monkeypatch.setenv("TOCSIN_CONFIG", str(config))
    senders = Settings.load().senders
    assert [one.auth for one in senders.values()] == ["signature", "basic", "sns", "proxy"]
    assert senders["alertmanager/eu"].identity_labels == ("alertname", "namespace")
    Gate(senders, (), dev=False).check_names(sources.load())
