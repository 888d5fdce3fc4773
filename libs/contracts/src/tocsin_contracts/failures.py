"""Why something could not be done or is not as it should be, in words that programs can read."""

from enum import StrEnum


class FailureCode(StrEnum):
    """What kind of failure it is. Closed: a new kind is a new line here."""

    MISSING_CREDENTIALS = "missing_credentials"
    EXPIRED_CREDENTIALS = "expired_credentials"
    RIGHTS_DENIED = "rights_denied"
    CLUSTER_UNREACHABLE = "cluster_unreachable"
    CONTEXT_NOT_FOUND = "context_not_found"
    MISSING_TOOL = "missing_tool"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    NOT_RECORDED = "not_recorded"
    NOT_FOUND = "not_found"
    UNSUPPORTED = "unsupported"
    EVIDENCE_MISSING = "evidence_missing"
    STALE = "stale"
    CLEARED = "cleared"
    CONFLICT = "conflict"
    EDIT_REFUSED = "edit_refused"
    OUT_OF_SCOPE = "out_of_scope"
    SCHEMA_INVALID = "schema_invalid"
    RENDER_FAILED = "render_failed"
    IMMUTABLE = "immutable"
    OVER_CAPACITY = "over_capacity"
    POLICY_DENIED = "policy_denied"
    UNSAFE = "unsafe"
    FROZEN = "frozen"
    WIDE = "wide"
