"""Messages as mail, in plain text and HTML; those of one run are one thread."""

import asyncio
import html
import ssl
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

import aiosmtplib
from aiosmtplib.errors import SMTPException, SMTPRecipientsRefused, SMTPResponseException
from pydantic import SecretStr

from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import PermanentError, TocsinError, TransientError
from tocsin_kit.untrusted import line
from tocsin_notifier.layout import Part, parts
from tocsin_notifier.ports import Message
from tocsin_notifier.rules.options import EmailOptions, Security

SECONDS = 20.0
SUBJECT = 200
FINAL = 500
"""From this code on a mail server would say the same again."""

_BOX = "font:13px/1.5 monospace;background:#f6f8fa;padding:12px;white-space:pre-wrap"


class EmailChannel:
    """Sends each message through one mail server."""

    def __init__(
        self, options: EmailOptions, password: SecretStr | None = None, clock: Clock | None = None
    ) -> None:
        self.name = options.name
        self._options = options
        self._password = password.get_secret_value() if password else None
        self._clock = clock or SystemClock()
        self._tls = _context(options)

    async def send(self, message: Message) -> None:
        """Show the message; a refusal that will not change is a PermanentError."""
        try:
            async with asyncio.timeout(2 * SECONDS):
                refused = await self._deliver(self._written(message))
        except SMTPRecipientsRefused as error:
            raise self._judged(min(one.code for one in error.recipients), "no recipient") from None
        except SMTPResponseException as error:
            raise self._judged(error.code, "no mail") from None
        except OSError as error:
            kind = type(error).__name__
            raise TransientError(f"{self._server}: no answer ({kind})") from None
        except SMTPException:
            raise self._judged(FINAL, "no `security` or no login of this kind") from None
        if refused:
            raise self._judged(FINAL, f"not all recipients, {refused} were refused")

    @property
    def _server(self) -> str:
        return f"channel {self.name!r}: mail server {self._options.server!r}"

    def _judged(self, code: int, taken: str) -> TocsinError:
        said = f"{self._server} takes {taken} (code {code})"
        if code < FINAL:
            return TransientError(said)
        return PermanentError(
            f"{said}; check its `security`, `username`, `password`, `sender` and `recipients`"
        )

    async def _deliver(self, mail: EmailMessage) -> int:
        """Hand the mail over; return how many of several recipients were refused."""
        options = self._options
        refused, _ = await aiosmtplib.send(
            mail,
            sender=options.sender,
            recipients=list(options.recipients),
            hostname=options.server,
            port=options.at_port,
            local_hostname=_domain(options),
            username=options.username or None,
            password=self._password,
            use_tls=options.security is Security.TLS,
            start_tls=options.security is Security.STARTTLS,
            tls_context=self._tls,
            timeout=SECONDS,
        )
        return len(refused)

    def _written(self, message: Message) -> EmailMessage:
        """Write the mail: no text of others is in a header, but on one line of the subject."""
        domain = _domain(self._options)
        mail = EmailMessage(policy=SMTP)
        mail["Subject"] = line(message.title, SUBJECT)
        mail["From"] = f"Tocsin <{self._options.sender}>"
        mail["To"] = ", ".join(self._options.recipients)
        mail["Date"] = format_datetime(self._clock.now())
        mail["Message-ID"] = f"<{message.id}@{domain}>"
        mail["In-Reply-To"] = mail["References"] = f"<run.{message.run_id}@{domain}>"
        mail["Auto-Submitted"] = "auto-generated"
        mail["X-Auto-Response-Suppress"] = "All"
        mail.set_content(_plain(message))
        mail.add_alternative(_marked_up(message), subtype="html")
        return mail


def _context(options: EmailOptions) -> ssl.SSLContext | None:
    if options.security is Security.NONE:
        return None
    try:
        return ssl.create_default_context(cafile=options.ca_file)
    except OSError as error:
        raise PermanentError(
            f"channel {options.name!r}: cannot read ca_file {str(options.ca_file)!r}: {error}"
        ) from None


def _domain(options: EmailOptions) -> str:
    return options.sender.rpartition("@")[2]


def _plain(message: Message) -> str:
    shown = ["\n".join(part.lines) for part in parts(message.text)]
    return "\n\n".join([message.title, *shown, *([message.link] if message.link else [])]) + "\n"


def _marked_up(message: Message) -> str:
    """Return HTML in which only the link to the run is one."""
    shown = [f"<h3>{html.escape(message.title)}</h3>", *map(_paragraph, parts(message.text))]
    if message.link:
        shown.append(f'<p><a href="{html.escape(message.link)}">Open in the console</a></p>')
    inner = "\n".join(shown)
    return f'<html><body style="font:15px/1.5 sans-serif">\n{inner}\n</body></html>\n'


def _paragraph(part: Part) -> str:
    lines = [html.escape(one) for one in part.lines]
    if part.code:
        inner = "\n".join(lines)
        return f'<pre style="{_BOX}">{inner}</pre>'
    return f"<p>{'<br>'.join(lines)}</p>"
