"""Who may send: looks up what is configured for a sender, and holds each request against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import SecretStr

from tocsin_ingest.edge.answers import RefusedError
from tocsin_ingest.edge.counting import Reason
from tocsin_ingest.ports import AlertSource
from tocsin_ingest.senders import INSTANCE, Auth, Sender
from tocsin_ingest.verifying import BadSignatureError, credentials, verify
from tocsin_kit.registry import Registry

OPEN = Sender(auth=Auth.NONE)
"""Everybody may send: a development machine without tokens."""


@dataclass(frozen=True, slots=True)
class Known:
    """A sender, and the name of the entry that speaks for it."""

    name: str
    sender: Sender


class Gate:
    """Fails closed: a source that nothing is configured for has no token that would be right."""

    def __init__(
        self, senders: Mapping[str, Sender], tokens: Sequence[SecretStr], *, dev: bool
    ) -> None:
        self._senders = senders
        closed = Sender.model_construct(auth=Auth.BEARER, secrets=tuple(tokens))
        self._others = OPEN if dev and not tokens else closed

    def check_names(self, sources: Registry[AlertSource]) -> None:
        """Raise PermanentError if an entry is for a source that does not exist."""
        for name in self._senders:
            sources[name.partition("/")[0]]

    def sender(self, source: str, instance: str = "") -> Known:
        """Return what is configured for one sender, for its kind, or for all others.

        Nobody is called what looks like another: such an instance is answered 404.
        """
        if instance and not INSTANCE.fullmatch(instance):
            error = "no instance may be called that"
            hint = "name it with up to 63 letters, digits, dots, dashes and underscores"
            raise RefusedError(404, Reason.NO_SUCH_PATH, error, hint)
        for name in (f"{source}/{instance}", source):
            if name in self._senders:
                return Known(name, self._senders[name])
        return Known(source, self._others)

    def check_headers(self, known: Known, headers: Mapping[str, str], peer: str) -> None:
        """Refuse whoever shows no right to send, before the body is read; 401."""
        sender = known.sender
        try:
            match sender.auth:
                case Auth.BEARER:
                    credentials.bearer(headers, sender.texts)
                case Auth.BASIC:
                    credentials.basic(headers, sender.texts)
                case Auth.PROXY:
                    credentials.proxy(
                        headers,
                        peer,
                        header=sender.subject_header,
                        subjects=sender.subjects,
                        networks=sender.networks,
                    )
                case _:
                    return
        except credentials.BadCredentialsError as error:
            raise _stranger(str(error)) from None

    def check_body(
        self, known: Known, headers: Mapping[str, str], body: bytes, now: datetime
    ) -> None:
        """Refuse a body that its sender did not sign; 401. `body` is what was received."""
        if known.sender.auth is not Auth.SIGNATURE:
            return
        scheme = known.sender.signs_as(known.name.partition("/")[0])
        try:
            verify(scheme, headers, body, known.sender.texts, now)
        except BadSignatureError as error:
            raise _stranger(str(error)) from None


def _stranger(why: str) -> RefusedError:
    return RefusedError(401, Reason.STRANGER, "unknown sender", why)
