"""Messages of Amazon SNS: proven before they are believed, their handshake answered here."""

from datetime import datetime
from typing import Any, Protocol

from tocsin_ingest.edge.answers import RefusedError, unavailable
from tocsin_ingest.edge.counting import Reason
from tocsin_ingest.edge.gate import Known
from tocsin_ingest.senders import Auth
from tocsin_ingest.verifying import BadSignatureError
from tocsin_ingest.verifying.envelopes import Envelope, Kind, envelope_of
from tocsin_kit.errors import TransientError

FORBIDDEN = 403


class Authority(Protocol):
    """Amazon, as far as it is asked; errors are BadSignatureError and TransientError."""

    async def verify(self, envelope: Envelope, now: datetime) -> None:
        """Return if the message is Amazon's."""

    async def confirm(self, envelope: Envelope) -> None:
        """Confirm the subscription that a message asks for."""


class Subscriptions:
    """Without an authority no subscription is confirmed and no SNS sender is believed."""

    def __init__(self, authority: Authority | None) -> None:
        self._authority = authority

    async def settle(self, known: Known, payload: Any, now: datetime) -> bool:
        """Return whether a request is done with: it was about a subscription, not an alert.

        A sender that proves itself by SNS alone has every message verified. One that is known by
        other means only asks for it where a subscription would be confirmed. Nothing is ever
        fetched for an UnsubscribeConfirmation: its address would subscribe again.
        """
        by_sns = known.sender.auth is Auth.SNS
        envelope = envelope_of(payload)
        if envelope is None:
            if by_sns:
                hint = "this sender has to be an Amazon SNS topic without raw message delivery"
                raise RefusedError(401, Reason.STRANGER, "not an SNS message", hint)
            return False
        subscribing = envelope.kind is Kind.SUBSCRIPTION
        if by_sns or subscribing:
            await self._prove(known, envelope, now, subscribing=subscribing)
        return envelope.kind is not Kind.NOTIFICATION

    async def _prove(
        self, known: Known, envelope: Envelope, now: datetime, *, subscribing: bool
    ) -> None:
        if subscribing and not envelope.confirmation_is_amazons:
            raise _forbidden("SubscribeURL is not an address of Amazon SNS")
        if not envelope.certificate_is_amazons:
            raise _forbidden("SigningCertURL is not an address of Amazon SNS")
        if self._authority is None or envelope.topic not in known.sender.topics:
            raise _forbidden(f"TopicArn {envelope.topic[:256]!r} is not in `topics`")
        try:
            await self._authority.verify(envelope, now)
            if subscribing:
                await self._authority.confirm(envelope)
        except BadSignatureError as error:
            raise _forbidden(str(error)) from None
        except TransientError as error:
            hint = "send it again"
            raise unavailable(Reason.NOT_STORED, str(error), hint) from error


def _forbidden(why: str) -> RefusedError:
    hint = "see docs/sources.md on Amazon SNS"
    return RefusedError(FORBIDDEN, Reason.FORBIDDEN, why, hint)
