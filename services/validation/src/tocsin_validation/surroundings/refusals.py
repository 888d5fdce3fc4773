"""What a refusal means, told from its words: servers answer in sentences and not in codes."""

import re

from tocsin_contracts import FailureCode

_MEANINGS: tuple[tuple[FailureCode, str], ...] = (
    (FailureCode.RATE_LIMITED, r"\b429\b|too many requests|rate.?limit|throttl"),
    (FailureCode.RIGHTS_DENIED, r"\b403\b|forbidden|not (be )?allowed|cannot (get|list) resource"),
    (
        FailureCode.EXPIRED_CREDENTIALS,
        r"expired|x509: certificate has expired|token is no longer valid",
    ),
    (
        FailureCode.MISSING_CREDENTIALS,
        r"\b401\b|unauthorized|must be logged in|no (auth|credentials)|credentials? (are )?missing",
    ),
    (
        FailureCode.CONTEXT_NOT_FOUND,
        r"context .{0,60}(does not|doesn't|not) (exist|found)|is not connected|names no cluster"
        r"|no snapshot of the cluster|no such cluster",
    ),
    (FailureCode.MISSING_TOOL, r"command not found|executable file not found|unknown tool"),
    (FailureCode.TIMEOUT, r"timed? ?out|deadline|within \d+(\.\d+)? s"),
    (FailureCode.UNSUPPORTED, r"not looked at through|no matches for kind|not as an object"),
)
_ASKED = tuple((code, re.compile(words, re.IGNORECASE)) for code, words in _MEANINGS)


def code_of(refusal: str) -> FailureCode:
    """Return what kind of failure a sentence is about; a cluster that is away if none is said."""
    found = (code for code, words in _ASKED if words.search(refusal))
    return next(found, FailureCode.CLUSTER_UNREACHABLE)
