"""Objects that admission refuses: Pod Security, a webhook, or a policy engine."""

import re
from dataclasses import dataclass

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof, sure
from tocsin_rca.evidence.statements import Told, logged, told


@dataclass(frozen=True, slots=True)
class _Refusal:
    """How the API server says that admission refused something."""

    cause: CauseClass
    pattern: re.Pattern[str]
    confidence: float


_REFUSALS = (
    _Refusal(
        CauseClass.POD_SECURITY_VIOLATION,
        re.compile(
            r"(?<!would )violates PodSecurity [^\n]{1,600}"
            r"|unable to validate against any (?:pod security policy|security context constraint)"
            r"[^\n]{0,600}"
        ),
        0.95,
    ),
    _Refusal(
        CauseClass.ADMISSION_DENIED,
        re.compile(
            r"admission webhook \\?\"[^\"\n]{1,200}\" denied the request[^\n]{0,600}"
            r"|ValidatingAdmissionPolicy '[^'\n]{1,253}' with binding '[^'\n]{1,253}' denied"
            r" request[^\n]{0,600}"
        ),
        0.94,
    ),
    _Refusal(
        CauseClass.ADMISSION_DENIED,
        re.compile(
            r"failed calling (?:admission )?webhook \\?\"[^\"\n]{1,200}\"[^\n]{0,400}"
            r"|no endpoints available for service \\?\"[\w.-]{0,80}webhook[\w.-]{0,80}"
        ),
        0.88,
    ),
)
_LONGEST = 300


class Admission:
    """The API server names who refused the object, and mostly why."""

    name = "admission"

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; whether the object or the rule gives way is for a person."""
        for refusal in _REFUSALS:
            found = told(case, refusal.pattern) or logged(case, refusal.pattern)
            if found:
                best = max(found, key=lambda one: sure(case, one.about, 1))
                return _finding(case, refusal, best)
        return ()


def _finding(case: Case, refusal: _Refusal, one: Told) -> tuple[Finding, ...]:
    owner = owner_of(case, one.about)
    if owner is None:
        return ()
    return (
        Finding(
            cause=refusal.cause,
            object=owner,
            confidence=sure(case, one.about, refusal.confidence),
            summary=f"Admission refuses {owner}: {_words(one)}.",
            evidence=proof(case, one.id),
            because="Whether the object or the rule has to change is for a person to decide.",
        ),
    )


def _words(one: Told) -> str:
    """Return the refusal on one line: policy engines write theirs on several."""
    return " ".join(one.match.string[one.match.start() :][: 2 * _LONGEST].split())[:_LONGEST]
