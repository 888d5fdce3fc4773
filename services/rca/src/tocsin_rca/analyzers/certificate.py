"""TLS certificates that are over, or that the other side does not trust."""

import re

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.calmness import is_renewed
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import Saying, findings

_EXPIRED = re.compile(
    r"(?i)certificate has expired(?! or is not yet valid: current time \S{1,40} is before)"
    r"|certificate (?:is )?(?:expired|not yet valid)|expired certificate|certificate expired"
    r"|is not yet valid: current time|CERT_HAS_EXPIRED|CERT_NOT_YET_VALID"
    r"|Certificate(?:Expired|NotYetValid)Exception|\bNotAfter: |certificate_expired"
    r"|certificate (?!is up to date).{0,120}(?:has expired|expires? in (?:less than|\d)"
    r"|will expire|is expiring)"
    r"|certs? (?:has|have) expired|Cert(?:ificate)?Expir(?:y|ation|ing|ed|es)"
)
_MISMATCH = re.compile(
    r"(?i)x509: certificate (?:is valid for|signed by unknown authority|is not valid for any names"
    r"|relies on legacy Common Name|is not authorized to sign)"
    r"|x509: cannot validate certificate for|x509: .{0,20}unknown authority"
    r"|unable to (?:get local|verify the first|get) (?:issuer )?certificate"
    r"|self[- ]signed certificate|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN"
    r"|UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|ERR_TLS_CERT_ALTNAME_INVALID"
    r"|does not match certificate's altnames|hostname mismatch|IP address mismatch"
    r"|PKIX path (?:building|validation) failed|No subject alternative|SSLPeerUnverifiedException"
    r"|no alternative certificate subject name matches|tls: bad certificate|unknown[ _]ca\b"
    r"|key values mismatch|private key does not match public key|CERTIFICATE_VERIFY_FAILED"
    r"|certificate verify failed|host ?name .{0,80} doesn't match|PEER_CERTIFICATE_UNTRUSTED"
)


class Certificate:
    """A TLS handshake fails at the certificate, or an alert tells that one runs out."""

    name = "certificate"
    needs = "What programs say: logs, else how containers ended, checks and the alert."
    proof = (
        "A TLS certificate is said to be over, not valid yet, for another name or not trusted, "
        "or about to run out."
    )
    against = (
        "A line that is calm about it, words about another object nearby, or an alert that is over "
        "and a certificate that was renewed."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for what was said; a certificate is never made up."""
        if is_renewed(case):
            return ()
        said = findings(
            case,
            Saying(
                CauseClass.CERTIFICATE_EXPIRED,
                _EXPIRED,
                0.94,
                "A certificate that {who} depends on is outside its time: {said}",
            ),
            Saying(
                CauseClass.CERTIFICATE_MISMATCH,
                _MISMATCH,
                0.92,
                "A certificate that {who} depends on is for another name or not trusted: {said}",
            ),
        )
        return said[:1]
