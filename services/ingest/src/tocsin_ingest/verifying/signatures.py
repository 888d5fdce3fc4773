"""Check a signature over the raw bytes of a request; whatever is not right is one plain refusal."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from tocsin_ingest.verifying.schemes import WINDOW_SECONDS, Encoding, Scheme

LONGEST_HEADER = 4096
"""Characters of a signature header; every scheme needs far less."""

_KEY_PREFIX = "whsec_"
_SECONDS = re.compile(r"[0-9]{1,12}")


class BadSignatureError(ValueError):
    """A request that does not prove who sent it; the message says what is wrong, never the secret.

    The answer is 401, whatever is wrong.
    """


def verify(
    scheme: Scheme, headers: Mapping[str, str], body: bytes, secrets: Iterable[str], now: datetime
) -> None:
    """Return if one of the secrets signed this very body; raise BadSignatureError otherwise.

    `headers` have names in lower case, `body` is what was received before anything read it. Every
    secret is tried, whichever of them matches. Without a usable secret nobody is believed.
    """
    given = _header(headers, scheme.header)
    signatures = _signatures(scheme, given)
    signed = _signed(scheme, headers, body, now)
    keys = [key for secret in secrets if (key := _key(scheme, secret))]
    matches = [
        hmac.compare_digest(_expected(scheme, key, signed), signature)
        for key in keys
        for signature in signatures
    ]
    if not any(matches):
        raise BadSignatureError(f"the signature in {scheme.header!r} is not of a known secret")


def check_secret(scheme: Scheme, secret: str) -> None:
    """Raise ValueError if a secret could never verify anything; the message does not hold it."""
    if not _key(scheme, secret):
        wanted = "`whsec_` and base64" if scheme.base64_key else "not empty"
        raise ValueError(f"a secret for {scheme.header!r} has to be {wanted}")


def _header(headers: Mapping[str, str], name: str) -> str:
    given = headers.get(name, "").strip()
    if not given:
        raise BadSignatureError(f"no header {name!r}")
    if len(given) > LONGEST_HEADER:
        raise BadSignatureError(f"the header {name!r} is over {LONGEST_HEADER} characters")
    return given


def _signatures(scheme: Scheme, given: str) -> list[bytes]:
    parts = given.split(scheme.separator) if scheme.separator else [given]
    return [
        part.strip().removeprefix(scheme.prefix).encode("utf-8", "replace")
        for part in parts
        if part.strip().startswith(scheme.prefix)
    ]


def _signed(scheme: Scheme, headers: Mapping[str, str], body: bytes, now: datetime) -> bytes:
    before = [scheme.lead] if scheme.lead else []
    if scheme.id_header:
        before.append(_header(headers, scheme.id_header))
    if scheme.timestamp_header:
        before.append(_timely(scheme.timestamp_header, headers, now))
    joint = scheme.joint.encode()
    return joint.join([*(part.encode("utf-8", "replace") for part in before), body])


def _timely(name: str, headers: Mapping[str, str], now: datetime) -> str:
    given = _header(headers, name)
    if not _SECONDS.fullmatch(given):
        raise BadSignatureError(f"the header {name!r} is not a whole number of seconds since 1970")
    if abs(now.timestamp() - int(given)) > WINDOW_SECONDS:
        raise BadSignatureError(f"the time in {name!r} is over {WINDOW_SECONDS} s from ours")
    return given


def _key(scheme: Scheme, secret: str) -> bytes:
    if not scheme.base64_key:
        return secret.encode("utf-8", "replace")
    try:
        return base64.b64decode(secret.removeprefix(_KEY_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _expected(scheme: Scheme, key: bytes, signed: bytes) -> bytes:
    if scheme.encoding is Encoding.PLAIN:
        return key
    digest = hmac.new(key, signed, hashlib.sha256)
    if scheme.encoding is Encoding.HEX:
        return digest.hexdigest().encode()
    return base64.b64encode(digest.digest())
