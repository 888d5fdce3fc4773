"""Objects that admission refuses: Pod Security, a webhook, or a policy engine."""

import re
from dataclasses import dataclass

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof, sure
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.remedy import with_remedy
from tocsin_rca.evidence.sightings import Change
from tocsin_rca.evidence.statements import Told, logged, told
from tocsin_rca.evidence.tightening import tightened
from tocsin_rca.evidence.undoing import changes, undo


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
_RESOURCE = re.compile(
    r"resource (?P<kind>[A-Z]\w{1,60})/(?:(?P<namespace>[a-z0-9-]{1,63})/)?"
    r"(?P<name>[a-z0-9.-]{1,253}) (?:was blocked|violation)"
)
_LONGEST = 300


class Admission:
    """The API server names who refused the object, and mostly why."""

    name = "admission"
    needs = (
        "The words in which the API server refused an object: events, conditions, logs and "
        "printed texts."
    )
    proof = (
        "The API server names the Pod Security level, webhook or policy that refused the object, "
        "or a webhook that it could not reach."
    )
    against = (
        "A mere warning that an object would violate the level, and a refusal that is about "
        "another object nearby."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; a commit that brought what is refused is undone."""
        for refusal in _REFUSALS:
            found = told(case, refusal.pattern) or logged(case, refusal.pattern)
            if found:
                best = max(found, key=lambda one: sure(case, one.about, 1))
                return (_finding(case, refusal, best),)
        return ()


def _finding(case: Case, refusal: _Refusal, one: Told) -> Finding:
    words = _words(one)
    known = owner_of(case, one.about) if one.about else _refused(words)
    owner = known or subject(case)
    change = _brought(case, owner, words)
    edit = undo(case, change) if change else None
    finding = Finding(
        cause=refusal.cause,
        object=owner,
        confidence=sure(case, one.about, refusal.confidence),
        summary=f"Admission refuses {owner}: {words}.",
        evidence=proof(case, one.id, *((change.seen.id,) if change and edit else ())),
        change=edit,
        because=f"{change.told} brought what is refused; this undoes that."
        if change and edit
        else "Whether the object or the rule has to change is for a person to decide.",
    )
    return finding if edit else with_remedy(finding, tightened(case, owner, words))


def _refused(words: str) -> ObjectRef | None:
    """Return the object that a policy engine names."""
    found = _RESOURCE.search(words)
    return ObjectRef(**found.groupdict(default="")) if found else None


def _brought(case: Case, owner: ObjectRef, words: str) -> Change | None:
    """Return the newest change of the object, if it is one field and the refusal names that."""
    same = (owner.kind, owner.name)
    found = list(changes(case, lambda f: (f.document.kind, f.document.name) == same))
    newest = [one for one in found if one.seen.id == found[0].seen.id]
    field = str(newest[0].field.path[-1]).lower() if len(newest) == 1 else ""
    named = field and re.search(rf"\b{re.escape(field)}\b", words.lower())
    return newest[0] if named else None


def _words(one: Told) -> str:
    """Return the refusal on one line: policy engines write theirs on several."""
    return " ".join(one.match.string[one.match.start() :][: 2 * _LONGEST].split())[:_LONGEST]
