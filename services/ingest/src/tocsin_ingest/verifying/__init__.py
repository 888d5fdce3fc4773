"""Who sent a request: the schemes by which senders and forges prove it, pure and in one place."""

from tocsin_ingest.verifying.schemes import SCHEMES, Encoding, Scheme, SchemeName
from tocsin_ingest.verifying.signatures import BadSignatureError, check_secret, verify

__all__ = [
    "SCHEMES",
    "BadSignatureError",
    "Encoding",
    "Scheme",
    "SchemeName",
    "check_secret",
    "verify",
]
