"""Alerts behind which nothing is wrong: heartbeats, tests, notices, and what is well again."""

import re

from tocsin_contracts import CauseClass, Finding, ObjectRef, Severity
from tocsin_rca.evidence.alerted import Theme, alert_ids, alert_text, tells_of
from tocsin_rca.evidence.calls import failed_calls
from tocsin_rca.evidence.calmness import is_renewed, meant_to_be
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.complaints import complaints
from tocsin_rca.evidence.wellness import is_calm, is_over, proof_of_health

_HEARTBEAT = re.compile(
    r"(?i)^(?:watchdog|dead.?man.{0,10}|heart.?beat\w{0,20}|info.?inhibitor|always.?firing"
    r"|(?:alertmanager)?test.?alert|alert.?test\w{0,10}|test.?alert\w{0,20}|alwaysfiring|ping|canaryalert)$"
)
_MEANT = re.compile(
    r"(?i)this is an alert meant to ensure|always be firing|always firing|meant to be always"
    r"|this is a test alert|test alert(?: from|,|\.| to)|only a test|ignore this alert"
    r"|(?:for|only|just)[^\n.]{0,30} test(?:ing|s)? purposes?|safe to ignore|can be ignored"
    r"|used to inhibit|no action (?:is )?(?:needed|required)|informational only"
    r"|scheduled maintenance"
)
_NO_PROBES = ("git", "note", "argocd")
_LOOKS = 0.9
_OVER = 0.97
_MEANT_SO = 0.94


class NoIncident:
    """The alert says so itself, or what it tells of is not so."""

    name = "no_incident"
    needs = "The alert's own words and state, and how its workload, events, logs and checks look."
    proof = (
        "The alert is a heartbeat, a test or a notice by its own words, or all that it tells of "
        "was seen to be well."
    )
    against = (
        "A warning, a complaint, a failed call or a check that is not calm, unless the alert is "
        "a test by its own words."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return a finding; sure only where the alert is none, or where all was seen well."""
        about = case.named or ObjectRef(kind="Alert", name=case.alert.title)
        if _HEARTBEAT.match(case.alert.title) or case.alert.labels.get("severity") == "none":
            return (_finding(case, about, 0.97, "only proves that alerts arrive"),)
        if _MEANT.search(alert_text(case)):
            return (_finding(case, about, 0.93, "is a notice or a test by its own words"),)
        return _by_design(case, about) or _by_looks(case, about)


def _by_design(case: Case, about: ObjectRef) -> tuple[Finding, ...]:
    """Say that what the alert tells of is meant to be so, if nothing else speaks of trouble."""
    proof = meant_to_be(case)
    if not proof or _signs(case, over=is_over(case), known=proof):
        return ()
    return (_finding(case, about, _MEANT_SO, "tells of what is as it is meant to be", proof),)


def _by_looks(case: Case, about: ObjectRef) -> tuple[Finding, ...]:
    """Say that all is well, of an alert that says it is over, or that is not so."""
    over, state = is_over(case), tells_of(case, Theme.STATE) or _is_a_notice(case)
    proof = (proof_of_health(case) or is_renewed(case)) if over or state else ()
    named = case.object(case.named) if over and case.named else None
    looked = case.logs or case.checks or (named and named.id in proof) or is_renewed(case)
    heard = state or tells_of(case, Theme.CRASH) or looked
    if not proof or not heard or _signs(case, over=over):
        return ()
    said = "tells of what is not so any more: all that was seen is well"
    return (_finding(case, about, _OVER if over else _LOOKS, said, proof),)


def _signs(case: Case, *, over: bool, known: tuple[str, ...] = ()) -> bool:
    """Whether anything that was seen speaks of trouble; warnings are of the past if it is over."""
    warnings = [event for event in case.events() if event.data.type == "Warning"]
    told = bool(complaints(case) or failed_calls(case))
    return bool((warnings and not over) or told or _checked(case, known))


def _is_a_notice(case: Case) -> bool:
    """Whether it is only for information, and somebody looked and found nothing."""
    return case.alert.severity is Severity.INFO and bool(case.checks)


def _checked(case: Case, known: tuple[str, ...]) -> bool:
    """A probe that says anything may say more than is understood here."""
    unknown = [seen.data for seen in case.checks if seen.id not in known]
    asked = [one for one in unknown if one.command.tool not in _NO_PROBES]
    return not all(map(is_calm, asked))


def _finding(
    case: Case, about: ObjectRef, sure: float, said: str, proof: tuple[str, ...] = ()
) -> Finding:
    return Finding(
        cause=CauseClass.NO_INCIDENT,
        object=about,
        confidence=sure,
        summary=f"Nothing is wrong: {case.alert.title} {said}.",
        evidence=(*alert_ids(case), *proof),
        because="Nothing has to be changed.",
    )
