"""Check what a sender shows beside its request: a token, a password, a proxy's word for it."""

import base64
import binascii
import hmac
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address

Network = IPv4Network | IPv6Network


class BadCredentialsError(ValueError):
    """A request that shows no right to send; the message says what to send, never the secret."""


TOKEN_SCHEMES = ("bearer", "geniekey")
"""What a token may stand after; the second is Opsgenie's, and its senders write no other."""


def bearer(headers: Mapping[str, str], secrets: Iterable[str]) -> None:
    """Return if the request holds one of the tokens, else raise BadCredentialsError."""
    if not _matches(_after_scheme(headers, *TOKEN_SCHEMES), secrets):
        raise BadCredentialsError("send `Authorization: Bearer <the token of this sender>`")


def basic(headers: Mapping[str, str], secrets: Iterable[str]) -> None:
    """Return if the request holds one of the `user:password` pairs, else BadCredentialsError."""
    try:
        given = base64.b64decode(_after_scheme(headers, "basic"), validate=True)
    except (binascii.Error, ValueError):
        given = b""
    if not _matches(given, secrets):
        raise BadCredentialsError("send `Authorization: Basic <base64 of user:password>`")


def proxy(
    headers: Mapping[str, str],
    peer: str,
    *,
    header: str,
    subjects: Iterable[str],
    networks: Sequence[Network],
) -> None:
    """Return if a proxy of ours names a client certificate that may send.

    `peer` is the address of the connection, not of a header: whoever else can reach us could write
    the header too. Several values of the header are one text here, which is nobody's subject.
    """
    if not _inside(peer, networks):
        raise BadCredentialsError("this sender is reached through its proxy only")
    if not _matches(headers.get(header, "").encode("utf-8", "replace"), subjects):
        raise BadCredentialsError(f"the certificate named in {header!r} may not send")


def _after_scheme(headers: Mapping[str, str], *wanted: str) -> bytes:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip().encode("utf-8", "replace") if scheme.lower() in wanted else b""


def _matches(given: bytes, secrets: Iterable[str]) -> bool:
    matches = [hmac.compare_digest(given, secret.encode()) for secret in secrets if secret]
    return any(matches)


def _inside(peer: str, networks: Sequence[Network]) -> bool:
    try:
        address = ip_address(peer)
    except ValueError:
        return False
    return any(address in network for network in networks)
