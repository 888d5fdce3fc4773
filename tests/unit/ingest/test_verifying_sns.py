"""Amazon SNS: only what Amazon signed is believed, and nobody but Amazon is ever asked anything."""

import asyncio
import base64
import datetime as dt
import json

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID

from tocsin_ingest import receiver as receiver_of_alerts
from tocsin_ingest import sources
from tocsin_ingest.api import Api
from tocsin_ingest.edge.bodies import Limits
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.edge.subscriptions import Subscriptions
from tocsin_ingest.senders import Sender
from tocsin_ingest.verifying.amazon import Amazon
from tocsin_ingest.verifying.envelopes import envelope_of
from tocsin_testing.fakes import NOW, FakeClock, FakeIntake, FakeRuns
from tocsin_testing.harness import until

TOPIC = "arn:aws:sns:eu-west-1:123456789012:alarms"
HOST = "https://sns.eu-west-1.amazonaws.com"
CERTIFICATE_URL = f"{HOST}/SimpleNotificationService-0123abcd.pem"
SILENT_URL = f"{HOST}/SimpleNotificationService-4567cdef.pem"
SUBSCRIBE_URL = f"{HOST}/?Action=ConfirmSubscription&TopicArn={TOPIC}&Token=t0k3n"
ALARM = {
    "AlarmName": "HighCPU",
    "NewStateValue": "ALARM",
    "OldStateValue": "OK",
    "NewStateReason": "Threshold crossed",
    "StateChangeTime": "2026-01-01T11:59:00.000+0000",
    "Region": "EU (Ireland)",
    "AWSAccountId": "123456789012",
    "Trigger": {"MetricName": "CPUUtilization", "Namespace": "AWS/EC2", "Dimensions": []},
}
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
DAY = dt.timedelta(days=1)


def certificate(key=KEY, begins=NOW - DAY, ends=NOW + DAY):
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    made = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=key.public_key(),
        serial_number=1,
        not_valid_before=begins,
        not_valid_after=ends,
    ).sign(key, hashes.SHA256())
    return made.public_bytes(serialization.Encoding.PEM)


PEM = certificate()


def message(kind="Notification", **changes):
    sent = {
        "Type": kind,
        "MessageId": "0f3b1b5e-0000-4000-8000-000000000001",
        "TopicArn": TOPIC,
        "Message": json.dumps(ALARM),
        "Timestamp": NOW.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "SigningCertURL": CERTIFICATE_URL,
    }
    if kind != "Notification":
        sent |= {"Message": "confirm", "Token": "t0k3n", "SubscribeURL": SUBSCRIBE_URL}
    return sent | changes


def signed(sent, version="2"):
    algorithm = {"1": hashes.SHA1, "2": hashes.SHA256}[version]()
    text = envelope_of(sent).signed
    signature = base64.b64encode(KEY.sign(text, padding.PKCS1v15(), algorithm)).decode()
    return sent | {"SignatureVersion": version, "Signature": signature}


class Endpoint:
    """The webhook of a topic, and a world in which every request is written down."""

    def __init__(
        self, sender=None, answer=lambda request: httpx.Response(200, content=PEM), limits=None
    ):
        self.asked = []
        self.answer = answer
        self.intake = FakeIntake()
        self.clock = FakeClock(NOW)
        table = {"cloudwatch": Sender.model_validate(sender)} if sender else {}
        api = Api(
            sources.load(),
            receiver_of_alerts.Receiver(self.intake, FakeRuns()),
            gate=Gate(table, (), dev=True),
            subscriptions=Subscriptions(Amazon(httpx.MockTransport(self._record))),
            limits=limits,
            clock=self.clock,
        )
        self._app = api.app()

    async def _record(self, request):
        self.asked.append(str(request.url))
        if request.url == SILENT_URL:
            await asyncio.Event().wait()
        return self.answer(request)

    async def last_asked(self):
        return self.asked[-1] if self.asked else None

    async def post(self, sent, peer="10.0.0.1"):
        headers = {"content-type": "text/plain; charset=UTF-8"}
        transport = httpx.ASGITransport(self._app, client=(peer, 1234))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.post("/webhook/cloudwatch", json=sent, headers=headers)


BY_SNS = {"auth": "sns", "topics": [TOPIC]}


@pytest.fixture
def endpoint():
    return Endpoint(BY_SNS)


@pytest.mark.parametrize("version", ["1", "2"])
async def test_an_alarm_that_amazon_signed_is_taken(endpoint, version):
    answer = await endpoint.post(signed(message(), version))
    assert answer.status_code == 202, answer.text
    assert [receipt["status"] for receipt in answer.json()["alerts"]] == ["opened"]
    assert endpoint.asked == [CERTIFICATE_URL]


async def test_a_subject_is_part_of_what_is_signed(endpoint):
    assert (await endpoint.post(signed(message(Subject="ALARM: HighCPU")))).status_code == 202
    forged = signed(message(Subject="ALARM: HighCPU")) | {"Subject": "OK: HighCPU"}
    assert (await endpoint.post(forged)).status_code == 403


async def test_the_certificate_is_fetched_once(endpoint):
    for _ in range(3):
        assert (await endpoint.post(signed(message()))).status_code == 202
    assert endpoint.asked == [CERTIFICATE_URL]


async def test_p1_while_amazon_is_asked_a_request_takes_no_place_of_the_sender():
    endpoint = Endpoint(BY_SNS, limits=Limits(in_flight=8, per_sender=1))
    forged = signed(message(SigningCertURL=SILENT_URL))
    hostile = asyncio.ensure_future(endpoint.post(forged, peer="10.9.9.9"))
    await until(endpoint.last_asked, lambda url: url == SILENT_URL)
    assert (await endpoint.post(signed(message()))).status_code == 202
    assert not hostile.done()
    hostile.cancel()
    await asyncio.gather(hostile, return_exceptions=True)


async def test_a_message_that_is_sent_again_tells_of_the_same_alert(endpoint):
    sent = signed(message())
    first, again = [(await endpoint.post(sent)).json()["alerts"][0] for _ in range(2)]
    assert (first["status"], again["status"]) == ("opened", "attached")
    assert first["run_id"] == again["run_id"]


@pytest.mark.parametrize(
    "change",
    [
        {"Message": "{}"},
        {"MessageId": "other"},
        {"Timestamp": "2026-01-01T11:59:59.000Z"},
        {"Signature": "AAAA"},
        {"Signature": "not base64"},
        {"Signature": ""},
        {"Signature": "é"},
        {"SignatureVersion": "1"},
        {"SignatureVersion": "3"},
        {"SignatureVersion": ""},
    ],
    ids=str,
)
async def test_what_amazon_did_not_sign_is_403_and_not_stored(endpoint, change):
    answer = await endpoint.post(signed(message()) | change)
    assert answer.status_code == 403
    assert endpoint.intake.admitted == []


@pytest.mark.parametrize("seconds", [86401, -301])
async def test_a_message_of_another_time_is_403_without_a_question(endpoint, seconds):
    sent = signed(message())
    endpoint.clock.advance(seconds)
    assert (await endpoint.post(sent)).status_code == 403
    assert endpoint.asked == []


@pytest.mark.parametrize("time", ["", "soon", "2026-01-01", "9999-12-31T23:59:59.999-14:00"])
async def test_a_time_that_is_none_is_403(endpoint, time):
    assert (await endpoint.post(signed(message(Timestamp=time)))).status_code == 403


async def test_another_topic_is_403_without_a_question(endpoint):
    answer = await endpoint.post(signed(message(TopicArn=TOPIC + "2")))
    assert answer.status_code == 403
    assert "topics" in answer.json()["error"]
    assert endpoint.asked == []


@pytest.mark.parametrize("sent", [ALARM, {"TopicArn": TOPIC}, [], "text", message(Message={})])
async def test_a_sender_that_is_known_by_sns_sends_nothing_else(endpoint, sent):
    assert (await endpoint.post(sent)).status_code == 401
    assert endpoint.asked == []


FOREIGN = [
    "",
    "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123abcd.pem",
    "https://sns.eu-west-1.amazonaws.com.attacker.invalid/SimpleNotificationService-0.pem",
    "https://attacker.invalid/SimpleNotificationService-0.pem",
    "https://sns.eu-west-1.amazonaws.com@attacker.invalid/SimpleNotificationService-0.pem",
    "https://attacker.invalid#sns.eu-west-1.amazonaws.com/SimpleNotificationService-0.pem",
    "https://attacker.invalid\\sns.eu-west-1.amazonaws.com/SimpleNotificationService-0.pem",
    "https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-0.pem",
    "https://s3.eu-west-1.amazonaws.com/SimpleNotificationService-0.pem",
    "https://sns-eu-west-1.amazonaws.com/SimpleNotificationService-0.pem",
    "https://sns.evil.s3.amazonaws.com/SimpleNotificationService-0.pem",
    "https://sns.eu-west-1.amazonaws.com/other/SimpleNotificationService-0.pem",
    "https://sns.eu-west-1.amazonaws.com/../SimpleNotificationService-0.pem",
    "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0.pem.exe",
    "https://169.254.169.254/latest/meta-data/",
    "file:///etc/passwd",
    "https://[::1",
]


@pytest.mark.parametrize("url", FOREIGN)
async def test_p6_no_certificate_comes_from_another_address(endpoint, url):
    answer = await endpoint.post(signed(message(SigningCertURL=url)))
    assert answer.status_code == 403
    assert endpoint.asked == []


async def test_china_has_addresses_of_its_own(endpoint):
    url = "https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-0.pem"
    assert (await endpoint.post(signed(message(SigningCertURL=url)))).status_code == 202


async def test_a_subscription_of_a_known_topic_is_confirmed(endpoint):
    answer = await endpoint.post(signed(message("SubscriptionConfirmation")))
    assert (answer.status_code, answer.json()["status"]) == (202, "nothing to do")
    assert endpoint.asked == [CERTIFICATE_URL, SUBSCRIBE_URL]


@pytest.mark.parametrize(
    "url",
    [
        *FOREIGN,
        CERTIFICATE_URL,
        SUBSCRIBE_URL.replace("ConfirmSubscription", "Unsubscribe"),
        SUBSCRIBE_URL.replace(":alarms", ":others"),
        SUBSCRIBE_URL.replace("https", "http"),
        "https://sns.eu-west-1.amazonaws.com",
    ],
)
async def test_p6_no_subscription_is_confirmed_at_another_address(endpoint, url):
    answer = await endpoint.post(signed(message("SubscriptionConfirmation", SubscribeURL=url)))
    assert answer.status_code == 403
    assert endpoint.asked == []


@pytest.mark.parametrize("sender", [None, {"auth": "none", "topics": [TOPIC]}], ids=["dev", "none"])
async def test_p6_even_where_anybody_may_send_a_subscription_has_to_be_amazons(sender):
    endpoint = Endpoint(sender)
    sent = message("SubscriptionConfirmation", Signature="EXAMPLE=", SignatureVersion="1")
    answer = await endpoint.post(sent)
    assert answer.status_code == 403
    assert SUBSCRIBE_URL not in endpoint.asked
    evil = sent | {"SubscribeURL": "http://169.254.169.254/latest/meta-data/"}
    assert (await endpoint.post(evil)).status_code == 403
    assert [url for url in endpoint.asked if not url.startswith(HOST)] == []


async def test_a_sender_with_a_token_of_its_own_may_still_be_subscribed():
    endpoint = Endpoint({"auth": "none", "topics": [TOPIC]})
    answer = await endpoint.post(signed(message("SubscriptionConfirmation")))
    assert answer.status_code == 202
    assert endpoint.asked == [CERTIFICATE_URL, SUBSCRIBE_URL]


async def test_the_end_of_a_subscription_is_heard_and_never_visited(endpoint):
    answer = await endpoint.post(signed(message("UnsubscribeConfirmation")))
    assert (answer.status_code, answer.json()["status"]) == (202, "nothing to do")
    assert endpoint.asked == [CERTIFICATE_URL]
    unsigned = Endpoint()
    assert (await unsigned.post(message("UnsubscribeConfirmation"))).status_code == 202
    assert unsigned.asked == []


def redirect(request):
    return httpx.Response(302, headers={"location": "http://169.254.169.254/"})


def hang_up(request):
    raise httpx.ConnectError("no route", request=request)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (redirect, 403),
        (hang_up, 503),
        (lambda request: httpx.Response(500), 503),
        (lambda request: httpx.Response(404), 403),
        (lambda request: httpx.Response(200, content=b"no certificate"), 403),
        (lambda request: httpx.Response(200, content=b"x" * 100_000), 403),
        (lambda request: httpx.Response(200, content=EXPIRED), 403),
        (lambda request: httpx.Response(200, content=NOT_RSA), 403),
    ],
    ids=["redirect", "away", "500", "404", "no certificate", "huge", "expired", "not RSA"],
)
async def test_without_a_good_certificate_nothing_is_taken(answer, status):
    endpoint = Endpoint(BY_SNS, answer)
    got = await endpoint.post(signed(message()))
    assert (got.status_code, "retry-after" in got.headers) == (status, status == 503)
    assert endpoint.asked == [CERTIFICATE_URL]
    assert endpoint.intake.admitted == []


EXPIRED = certificate(begins=NOW - 2 * DAY, ends=NOW - DAY)
NOT_RSA = certificate(ec.generate_private_key(ec.SECP256R1()))
