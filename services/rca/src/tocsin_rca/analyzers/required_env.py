"""Programs that say which environment variable they miss."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import dig
from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import proof, sure
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.hearing import heard, quoted, subject
from tocsin_rca.evidence.lending import lent
from tocsin_rca.evidence.likeness import meant
from tocsin_rca.evidence.remedy import with_remedy

_NAME = r"[\"'`$({]{0,4}(?P<%s>[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){0,9})[\"'`)}]{0,4}"
_ABSENT = (
    r"(?:(?:is|was|has|were|are|must|should|be|been|environment|env|variable|var|a|to|an"
    r"|and)\s){0,6}"
    r"(?:not (?:been )?(?:set|defined|specified|provided|found|configured|present|declared)"
    r"|required"
    r"|missing|undefined|unset|empty|set\b|specified|provided|defined|unbound variable"
    r"|parameter (?:not set|null)|mandatory|needed)"
)
_PATTERNS = (
    r"(?i:environment|env)[ _-]?(?i:variables?|vars?)?:?\s(?i:named |called |for )?"
    + _NAME % "a"
    + r"[\s:,]{1,3}"
    + _ABSENT,
    r"\b" + _NAME % "b" + r":?\s(?i:environment |env )(?i:variable|var)?\s?" + _ABSENT,
    r"(?i:missing|required|undefined|unset|no|set the|specify|unknown|provide|define"
    r"|invalid or missing)\s"
    r"(?i:(?:required|mandatory|the|following|necessary|value|for)\s){0,3}"
    r"(?i:environment|env|config\w{0,10}|key|setting|secret)\s?(?i:variables?|vars?|key|value)?"
    r"(?i: not found| not set)?(?: is|:|\(s\):?)?[\s\[]{1,3}" + _NAME % "c",
    r"(?i:set the|define the|provide the|missing|requires?(?: the)?|needs?(?: the)?)\s"
    + _NAME % "m"
    + r"\s(?i:environment|env)\s?(?i:variable|var)",
    r"an `Err` value: (?P<n>NotPresent)",
    r"KeyError: '(?P<d>[A-Z][A-Z0-9_]{2,60})'",
    r"\b(?P<e>[A-Z][A-Z0-9]{0,30}_[A-Z0-9_]{1,40})\"?'?:?\s(?:is|was|must be|should be|has to be)\s"
    r"(?:not (?:set|defined|specified|provided|configured)|required|missing|undefined|unset|empty"
    r"|set|provided|specified|defined)",
    r"\b(?P<f>[A-Z][A-Z0-9_]{2,60}): (?:unbound variable|parameter (?:not set|null or not set))",
    r"Could not resolve placeholder '(?P<g>[\w.\-]{3,60})'",
    r"required key (?P<h>[A-Z][A-Z0-9_]{2,60}) missing value",
    r"(?:You (?:must|need to) specify"
    r"|you need to specify one of)[^\n]{0,80}?\b(?P<i>[A-Z][A-Z0-9]{1,30}_[A-Z_]{2,40})",
    r"specify one of the"
    r" following[^\n]{0,60}\n\s{0,20}-?\s?(?P<j>[A-Z][A-Z0-9]{1,30}_[A-Z_]{2,40})",
    r"environment variable not found: \"?(?P<k>[A-Z][A-Z0-9_]{2,60})",
    r"\n(?P<l>[A-Za-z][A-Za-z0-9_]{2,60})\n\s{1,4}(?i:field required)",
)
_ANY = re.compile("|".join(f"(?:{one})" for one in _PATTERNS))


class RequiredEnv:
    """The log names an environment variable that nothing sets."""

    name = "required_env"
    needs = "What the program says in logs or endings, and the environment that the workload sets."
    proof = (
        "The program names an environment variable that it misses, and the workload gives it no "
        "value."
    )
    against = "The workload sets that variable; the words come from another workload."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; the change is to the name of a variable that was misspelt."""
        told = heard(case, _ANY)
        if not told:
            return ()
        first = told[0]
        name = next(text for text in first.match.groups() if text)
        who = subject(case, first.about)
        declared = dict(_declared(case))
        if declared.get(name):
            return ()
        change = _renamed(case, name)
        finding = Finding(
            cause=CauseClass.MISSING_ENV,
            object=who,
            confidence=sure(case, first.about, 0.93),
            summary=f"{who} needs the environment variable {name}: {quoted(first)}",
            evidence=proof(case, *(one.id for one in told)),
            change=change,
            because=f"{change.old} is set, and is nearly what it asks for." if change else "",
        )
        return (finding if change else with_remedy(finding, lent(case, name)),)


def _declared(case: Case) -> Iterator[tuple[str, bool]]:
    workload = design(case)
    for container in workload.data.containers() if workload else ():
        for one in container.items("env"):
            holds = one.get("value") not in (None, "") or dig(one, "valueFrom") is not None
            yield str(one.get("name")), holds


def _renamed(case: Case, name: str) -> FieldChange | None:
    workload = design(case)
    if workload is None:
        return None
    for container in workload.data.containers():
        names = [str(one.get("name")) for one in container.items("env")]
        slip = meant(name, names)
        if slip and name not in names:
            path = (*container.path, "env", f"[name={slip}]", "name")
            return FieldChange(object=workload.data.ref, path=path, old=slip, new=name)
    return None
