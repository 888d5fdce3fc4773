"""Namespaces that are referred to and do not exist, and objects that are in another one."""

import re
from collections.abc import Iterator

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import proof, sure
from tocsin_rca.evidence.hearing import heard, quoted, subject
from tocsin_rca.evidence.holders import holders
from tocsin_rca.evidence.statements import Statement, Told, line_of
from tocsin_rca.evidence.unresolved import unresolved

_ABSENT = re.compile(
    r"(?i)namespaces? \\?\"(?P<name>[a-z0-9-]{1,63})\\?\" not found"
    r"|namespace (?P<other>[a-z0-9-]{1,63}) (?:not found|does not exist)"
)
_PRINTED = re.compile(
    r"(?i)error from server \(NotFound\).{0,200}namespaces \"(?P<name>[a-z0-9-]{1,63})\" not found"
)
_LONGEST = 4000


class Namespace:
    """The API server knows no such namespace, or a Service is asked for in the wrong one."""

    name = "namespace"
    needs = (
        "What the API server answers, names that cannot be resolved, and where the Services are."
    )
    proof = (
        "The API server knows no such namespace, or a configured name asks for a Service where "
        "it is not."
    )
    against = (
        "The Service is in the namespace that is asked for, no setting holds the name, or it is "
        "about another workload."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; where the object should be, is for people to say."""
        told = heard(case, _ABSENT) or tuple(_printed(case))
        if told:
            name = next(text for text in told[0].match.groups() if text)
            return (_finding(case, told, f"the namespace {name} does not exist", 0.93),)
        return _misplaced(case)


def _printed(case: Case) -> Iterator[Told]:
    for one in case.texts():
        if match := _PRINTED.search(one.data.text[:_LONGEST]):
            yield Told(Statement(one.id, None, "", line_of(match)), match)


def _misplaced(case: Case) -> tuple[Finding, ...]:
    asked = unresolved(case)
    if asked is None or not asked.namespace:
        return ()
    places = {
        o.data.ref.namespace for o in case.manifests("Service") if o.data.ref.name == asked.service
    }
    spaces = {one.data.ref.name for one in case.objects("Namespace")}
    elsewhere = places and asked.namespace not in places
    unknown = spaces and asked.namespace not in spaces
    if not (elsewhere or unknown) or not holders(case, asked.host):
        return ()
    what = f"{asked.service} is asked for in the namespace {asked.namespace}, where it is not"
    return (_finding(case, asked.told, what, 0.93),)


def _finding(case: Case, told: tuple[Told, ...], what: str, confidence: float) -> Finding:
    first = told[0]
    return Finding(
        cause=CauseClass.NAMESPACE_TYPO,
        object=subject(case, first.about),
        confidence=sure(case, first.about, confidence),
        summary=f"For {subject(case, first.about)}, {what}: {quoted(first)}",
        evidence=proof(case, *(one.id for one in told)),
    )
