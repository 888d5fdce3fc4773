"""Mail through a real mail server on this machine: what arrives, and what a refusal means."""

import smtplib
import ssl
import subprocess
from contextlib import contextmanager
from email import message_from_bytes
from email.policy import default

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from pydantic import SecretStr

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.processes import free_ports
from tocsin_notifier import messages
from tocsin_notifier.channels.email import EmailChannel
from tocsin_notifier.ports import Message
from tocsin_notifier.rules.options import EmailOptions
from tocsin_testing import build
from tocsin_testing.fakes import FakeClock

LINK = "https://tocsin.example.com/runs/r1"


class Mailbox:
    """Keeps what arrives; refuses what a test wants refused."""

    def __init__(self, *, refused=(), answer="250 OK"):
        self.mails = []
        self.envelopes = []
        self._refused = refused
        self._answer = answer

    async def take_recipient(self, server, session, envelope, address, options):
        if address in self._refused:
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def take_mail(self, server, session, envelope):
        if self._answer.startswith("250"):
            self.envelopes.append(envelope)
            self.mails.append(message_from_bytes(envelope.content, policy=default))
        return self._answer


for command, hook in {"RCPT": Mailbox.take_recipient, "DATA": Mailbox.take_mail}.items():
    setattr(Mailbox, f"handle_{command}", hook)


def who(server, session, envelope, mechanism, login):
    known = (login.login, login.password) == (b"tocsin", b"s3cret-password")
    return AuthResult(success=known, handled=known, auth_data=login.login)


class Server(Controller):
    """A mail server that may speak TLS from the first byte; its first look at itself trusts it."""

    def _trigger_server(self):
        if not self.ssl_context:
            super()._trigger_server()
            return
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with smtplib.SMTP_SSL(self.hostname, self.port, context=context, timeout=5):
            pass


@contextmanager
def serving(mailbox, **options):
    (port,) = free_ports(1)
    server = Server(mailbox, hostname="127.0.0.1", port=port, **options)
    server.start()
    try:
        yield port
    finally:
        server.stop()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of its own authority for 127.0.0.1."""
    folder = tmp_path_factory.mktemp("tls")
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    made += ["-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1"]
    made += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(made, check=True, capture_output=True)
    return folder


def served_tls(folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def options(port, **changes):
    given = {
        "name": "mail",
        "type": "email",
        "server": "127.0.0.1",
        "port": port,
        "security": "none",
        "sender": "tocsin@example.com",
        "recipients": ["ops@example.com", "ana@example.org"],
    }
    return EmailOptions.model_validate(given | changes)


def message(title="Run ended: escalated", text="Nobody knows <b>why</b>.", event_id="e1"):
    return Message(event_id, "r1", title, text, build.run_finished(), LINK)


async def arrived(*sent, mailbox=None):
    mailbox = mailbox or Mailbox()
    with serving(mailbox) as port:
        channel = EmailChannel(options(port), clock=FakeClock())
        for one in sent:
            await channel.send(one)
    return mailbox


async def test_a_message_arrives_in_plain_text_and_html():
    mailbox = await arrived(message())
    (mail,) = mailbox.mails
    assert mail["subject"] == "Run ended: escalated"
    assert mail["from"] == "Tocsin <tocsin@example.com>"
    assert mail["date"] == "Mon, 02 Mar 2026 10:00:00 +0000"
    assert mail["auto-submitted"] == "auto-generated"
    assert mailbox.envelopes[0].rcpt_tos == ["ops@example.com", "ana@example.org"]
    plain = mail.get_body(["plain"]).get_content()
    assert "Nobody knows <b>why</b>." in plain
    assert LINK in plain
    marked_up = mail.get_body(["html"]).get_content()
    assert "Nobody knows &lt;b&gt;why&lt;/b&gt;." in marked_up
    assert marked_up.count("<a ") == 1
    assert f'<a href="{LINK}">' in marked_up


async def test_the_messages_of_a_run_are_one_thread_and_each_is_itself_when_sent_again():
    mailbox = await arrived(message(), message(title="Other", event_id="e2"), message())
    ids = [mail["message-id"] for mail in mailbox.mails]
    assert ids == ["<e1@example.com>", "<e2@example.com>", "<e1@example.com>"]
    assert {mail["references"] for mail in mailbox.mails} == {"<run.r1@example.com>"}
    assert {mail["in-reply-to"] for mail in mailbox.mails} == {"<run.r1@example.com>"}


async def test_a_question_shows_its_diff_in_a_box():
    asked = build.approval_requested()
    told = messages.render(asked)
    mailbox = await arrived(Message(told.id, "r1", told.title, told.text, asked, LINK))
    marked_up = mailbox.mails[0].get_body(["html"]).get_content()
    assert "<pre" in marked_up
    assert "256Mi" in marked_up
    assert "```" not in marked_up + mailbox.mails[0].get_body(["plain"]).get_content()


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\u2028", "\x85"])
async def test_p9_no_text_of_others_becomes_a_header_or_a_recipient(end):
    hostile = f"A{end}Bcc: x@evil.example{end}{end}<html>"
    mailbox = await arrived(message(title=hostile, text=f"x{end}.{end}RSET{end}DATA"))
    (mail,) = mailbox.mails
    assert mail["bcc"] is None
    assert "Bcc: x@evil.example" in mail["subject"]
    assert mailbox.envelopes[0].rcpt_tos == ["ops@example.com", "ana@example.org"]


async def test_a_title_of_any_script_is_whole():
    (mail,) = (await arrived(message(title="Störung: 支払い \N{FIRE}"))).mails
    assert mail["subject"] == "Störung: 支払い \N{FIRE}"


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_password_goes_over_a_connection_that_nobody_reads(security, certificate):
    mailbox = Mailbox()
    tls = served_tls(certificate)
    how = {"ssl_context": tls} if security == "tls" else {"tls_context": tls}
    login = {"authenticator": who, "auth_require_tls": security != "tls"}
    with serving(mailbox, **how, **login) as port:
        ca = {"ca_file": certificate / "cert.pem", "security": security}
        account = {"username": "tocsin", "password": {"env": "unread"}}
        good = EmailChannel(options(port, **ca, **account), SecretStr("s3cret-password"))
        await good.send(message())
        bad = EmailChannel(options(port, **ca, **account), SecretStr("wrong-password"))
        with pytest.raises(PermanentError, match="check its `security`, `username`") as refused:
            await bad.send(message())
    assert len(mailbox.mails) == 1
    assert "wrong-password" not in str(refused.value)


async def test_p9_a_server_that_nobody_vouches_for_gets_no_password(certificate):
    mailbox = Mailbox()
    with serving(mailbox, tls_context=served_tls(certificate)) as port:
        account = {"username": "tocsin", "password": {"env": "unread"}}
        stranger = options(port, security="starttls", **account)
        with pytest.raises(TransientError, match="no answer"):
            await EmailChannel(stranger, SecretStr("s3cret-password")).send(message())
    assert mailbox.mails == []


async def test_a_server_that_cannot_hide_a_connection_is_not_used():
    with serving(Mailbox()) as port:
        channel = EmailChannel(options(port, security="starttls"))
        with pytest.raises(PermanentError, match="takes no `security`"):
            await channel.send(message())


@pytest.mark.parametrize(
    ("mailbox", "error", "said"),
    [
        (Mailbox(answer="451 try later"), TransientError, "takes no mail \\(code 451\\)"),
        (Mailbox(answer="554 spam"), PermanentError, "takes no mail \\(code 554\\)"),
        (
            Mailbox(refused=["ops@example.com", "ana@example.org"]),
            PermanentError,
            "takes no recipient",
        ),
        (Mailbox(refused=["ana@example.org"]), PermanentError, "1 were refused"),
    ],
    ids=["later", "never", "nobody", "not all"],
)
async def test_a_refusal_is_final_if_the_server_would_say_it_again(mailbox, error, said):
    with pytest.raises(error, match=said):
        await arrived(message(), mailbox=mailbox)


async def test_a_server_that_is_away_is_tried_again():
    (port,) = free_ports(1)
    with pytest.raises(TransientError, match=r"channel 'mail': mail server '127\.0\.0\.1'"):
        await EmailChannel(options(port)).send(message())


def test_an_authority_that_cannot_be_read_stops_the_start(tmp_path):
    with pytest.raises(PermanentError, match="channel 'mail': cannot read ca_file"):
        EmailChannel(options(25, security="tls", ca_file=tmp_path / "none.pem"))
