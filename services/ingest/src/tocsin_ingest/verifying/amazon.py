"""Prove that an SNS message is Amazon's, and confirm a subscription; asks no other host, ever."""

import asyncio
import base64
import binascii
from datetime import datetime, timedelta

import httpx
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509 import Certificate, load_pem_x509_certificate

from tocsin_ingest.verifying.envelopes import Envelope
from tocsin_ingest.verifying.signatures import BadSignatureError
from tocsin_kit.errors import TransientError

OLDEST = timedelta(days=1)
NEWEST = timedelta(minutes=5)
"""How old a message may be, since SNS tries again for long, and how far its clock may be ahead.

A message that is sent twice within this time does no harm: it tells of the same episode again.
"""

ANSWER_SECONDS = 5
ANSWER_BYTES = 64 * 1024
MOST_CERTIFICATES = 16
_HASHES = {"1": hashes.SHA1, "2": hashes.SHA256}
"""By SignatureVersion; SNS signs with the first unless a topic is told otherwise."""

_OK, _REDIRECT, _OUTAGE = 200, 300, 500


class Amazon:
    """Keeps the certificates that it fetched. The transport is for tests."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._transport = transport
        self._certificates: dict[str, Certificate] = {}

    async def verify(self, envelope: Envelope, now: datetime) -> None:
        """Return if Amazon signed the message of late; BadSignatureError otherwise.

        Raises TransientError if the certificate cannot be had.
        """
        _check_time(envelope, now)
        if not envelope.certificate_is_amazons:
            raise BadSignatureError("SigningCertURL is not an address of Amazon SNS")
        algorithm = _algorithm(envelope.signature_version)
        try:
            signature = base64.b64decode(envelope.signature, validate=True)
        except (binascii.Error, ValueError):
            raise BadSignatureError("Signature is not base64") from None
        key = _key(await self._certificate(envelope.certificate_url), now)
        try:
            key.verify(signature, envelope.signed, PKCS1v15(), algorithm)
        except InvalidSignature:
            raise BadSignatureError("Signature is not that of the certificate") from None

    async def confirm(self, envelope: Envelope) -> None:
        """Confirm the subscription of a verified message; errors as of `verify`."""
        if not envelope.confirmation_is_amazons:
            raise BadSignatureError("SubscribeURL is not an address of Amazon SNS")
        await self._get(envelope.subscribe_url, "SubscribeURL")

    async def _certificate(self, url: str) -> Certificate:
        if url not in self._certificates:
            try:
                fetched = load_pem_x509_certificate(await self._get(url, "SigningCertURL"))
            except ValueError:
                raise BadSignatureError("SigningCertURL leads to no certificate") from None
            if len(self._certificates) >= MOST_CERTIFICATES:
                self._certificates.clear()
            self._certificates[url] = fetched
        return self._certificates[url]

    async def _get(self, url: str, what: str) -> bytes:
        body = bytearray()
        try:
            async with (
                asyncio.timeout(ANSWER_SECONDS),
                httpx.AsyncClient(transport=self._transport, follow_redirects=False) as client,
                client.stream("GET", url) as answer,
            ):
                if answer.status_code >= _OUTAGE:
                    raise TransientError(f"{what}: Amazon answered {answer.status_code}")
                if not _OK <= answer.status_code < _REDIRECT:
                    raise BadSignatureError(f"{what}: Amazon answered {answer.status_code}")
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) > ANSWER_BYTES:
                        raise BadSignatureError(f"{what}: over {ANSWER_BYTES} bytes")
        except (httpx.HTTPError, TimeoutError) as error:
            raise TransientError(f"{what}: Amazon does not answer: {error!r}") from error
        return bytes(body)


def _check_time(envelope: Envelope, now: datetime) -> None:
    try:
        age = now - envelope.sent_at
    except (ValueError, OverflowError):
        raise BadSignatureError("Timestamp is no time") from None
    if not -NEWEST <= age <= OLDEST:
        raise BadSignatureError("Timestamp is over a day old, or ahead of ours")


def _algorithm(version: str) -> hashes.HashAlgorithm:
    if version not in _HASHES:
        raise BadSignatureError("SignatureVersion is neither 1 nor 2")
    return _HASHES[version]()


def _key(certificate: Certificate, now: datetime) -> RSAPublicKey:
    key = certificate.public_key()
    if not isinstance(key, RSAPublicKey):
        raise BadSignatureError("SigningCertURL leads to no RSA certificate")
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        raise BadSignatureError("the certificate of SigningCertURL is not valid now")
    return key
