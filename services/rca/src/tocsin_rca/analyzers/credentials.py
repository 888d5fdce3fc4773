"""Dependencies that refuse the credentials of a program."""

import re

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import Saying, findings

_DATABASE = re.compile(
    r"(?i)password authentication failed for user|access denied for user '[^']{0,80}'@"
    r"|SCRAM authentication failed|\bAuthenticationFailed\b|Login failed for user"
    r"|ORA-01017|invalid username/password|auth(?:entication)? error:? .{0,40}sasl"
    r"|no password supplied|password is required|SASL: .{0,60}client password must be"
    r"|role \"[^\"]{1,80}\" (?:does not exist|is not permitted to log in)"
    r"|command \w{1,30} requires authentication|Could not find user \S{1,80}"
    r"|not authorized on \S{1,60} to execute command|UserNotFound\b"
)
_QUEUE = re.compile(
    r"NOAUTH\b|WRONGPASS\b|(?i:ERR invalid password|AUTH <password> called without any password"
    r"|invalid username-password pair|SaslAuthenticationException|SASL authentication (?:error"
    r"|failed)"
    r"|ACCESS_REFUSED|username or password not allowed|Authentication failed: Invalid username)"
)
_SERVICE = re.compile(
    r"InvalidAccessKeyId|SignatureDoesNotMatch|InvalidClientTokenId|UnrecognizedClientException"
    r"|ExpiredToken\b|(?i:security token included in the request is (?:expired|invalid))"
    r"|\binvalid_(?:grant|client)\b|AADSTS70\d{3}"
    r"|(?i:\binvalid (?:api[ _-]?key|credentials)\b|incorrect (?:api[ _-]?key|password)"
    r"|incorrect username or password|bad credentials|unable to authenticate user"
    r"|permission denied \(publickey)"
)
_VAGUE = re.compile(
    r"(?i)\b(?:api[ _-]?key|access token|bearer token|auth token) (?:is |has )?(?:been )?"
    r"(?:invalid|expired|revoked)\b|\binvalid (?:bearer|auth|access) token\b"
    r"|authentication (?:failed(?! open)|failure)|failed to authenticate"
    r"|(?:error|fail|exception|unexpected|returned|status(?:[ _]?code)?)\D{0,60}\b401\b"
    r"|\b401\b:? (?:unauthorized|client error)"
)
_SAYS = "{who} is refused because of its credentials: {said}"


class Credentials:
    """A database, queue or service answers that the user, password, key or token is not good."""

    name = "credentials"
    needs = "What programs say: logs, else how containers ended, checks and the alert."
    proof = (
        "A database, a queue or a service answers that it does not accept the user, password, "
        "key or token."
    )
    against = (
        "A line that is calm about it, a bare 401 or vague words, which are less sure, and words "
        "about another object nearby."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; which credentials would be right is never known here."""
        cause = CauseClass.CREDENTIALS_INVALID
        return findings(
            case,
            Saying(cause, _DATABASE, 0.92, _SAYS),
            Saying(cause, _QUEUE, 0.92, _SAYS),
            Saying(cause, _SERVICE, 0.88, _SAYS),
            Saying(cause, _VAGUE, 0.72, _SAYS),
        )
