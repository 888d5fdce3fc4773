"""Requests that are turned away because there are more than a limit lets through."""

import re

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.lines import ids_of, quoted, saying

_LIMITED = re.compile(
    r"(?i)too many requests|rate[- _]?limit(?:ed|ing)?[^\n]{0,30}(?:exceed|reach|hit|reject"
    r"|block|error)"
    r"|(?:exceed|reach|hit|over)\w{0,4} (?:the |your |its )?(?:\w{1,20} )?rate[- ]?limit"
    r"|rate exceeded"
    r"|ThrottlingException|RequestLimitExceeded|RESOURCE_EXHAUSTED|\b429\b[^\n]{0,60}(?:GET"
    r"|POST|PUT|HTTP)"
    r"|(?:HTTP/\d\.?\d?\" |status[=: ]{1,3}\"?|code[=: ]{1,3}|returned |HTTP )429\b"
    r"|local_rate_limited"
    r"|limiting requests, excess|circuit[- _]?breaker[^\n]{0,30}overflow|load ?shed|shedding load"
    r"|requests? (?:are |is )?being throttled|throttled by"
)
_OF_CLIENT = re.compile(
    r"(?i)client-side throttling|toomanyrequests: you have reached your (?:un)?auth"
)
_OFTEN = 2


class RateLimit:
    """Programs say that requests are limited."""

    name = "rate_limit"
    needs = "Lines of logs and of checks."
    proof = "A line says that requests are limited, throttled or shed, such as a status 429."
    against = "A limit of the client itself or of an image registry; a single such line."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; what kubectl and registries limit is not meant."""
        found = tuple(one for one in saying(case, _LIMITED) if not _OF_CLIENT.search(one.text))
        if not found:
            return ()
        about = case.workload or case.named or ObjectRef(kind="Alert", name=case.alert.title)
        return (
            Finding(
                cause=CauseClass.TRAFFIC_SPIKE_RATE_LIMITED,
                object=about,
                confidence=0.85 if len(found) >= _OFTEN else 0.72,
                summary=f"Requests of {about} are turned away by a limit ({quoted(found[0])}).",
                evidence=ids_of(found)[:4],
                because="Whether the limit or the load is wrong is not for a manifest to say.",
            ),
        )
