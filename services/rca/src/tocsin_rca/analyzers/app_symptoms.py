"""Programs that are slow or fail by their own account, where nothing else explains it."""

import re

from tocsin_contracts import AlertStatus, CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.alerted import Theme, alert_ids, tells_of
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.complaints import complaints
from tocsin_rca.evidence.lines import Line, ids_of, lines, quoted
from tocsin_rca.evidence.statements import told

_TOOK = re.compile(
    r"(?i)(?:took|completed in|rendered in|elapsed|duration|latency|response[_ ]time|finished in"
    r"|request time|in)[\"'=: ]{1,4}(?P<number>\d{1,9}(?:\.\d{1,9})?)"
    r" ?(?P<unit>ms|milliseconds?|s\b|sec\w{0,4}|µs|us)"
)
_SLOW_SAID = re.compile(r"(?i)slow (?:query|request|response|operation|log)|took too long")
_FAULTS = (132, 134, 135, 136, 139)
"""Exit codes of programs that the kernel ended for what they did: 128 and the signal."""

_FAULT = re.compile(r"(?i)\bSIG(?:SEGV|ABRT|BUS|ILL|FPE)\b|segmentation fault|core dumped")
_SECONDS = {"m": 0.001, "s": 1.0, "µ": 1e-6, "u": 1e-6}
_SLOW = 1.0
"""Seconds that a person notices."""


class AppSymptoms:
    """Logs tell of slow work or of errors; causes that explain either lead over this."""

    name = "app_symptoms"
    needs = "The alert's own words, the program's logs, and how its containers ended."
    proof = (
        "The alert or the logs tell of errors or slow work, or the program broke off by a fault "
        "such as an invalid memory access."
    )
    against = (
        "Any other cause that explains it, which then leads; an alert alone, of which no log "
        "says a word."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return a finding for what the alert tells of, or what logs tell of by themselves."""
        slow = tuple(line for line in lines(case, checks=False) if _is_slow(line.text))
        wrong = complaints(case)
        found = []
        if tells_of(case, Theme.LATENCY):
            found.append(_latency(case, slow))
        if wrong:
            found.append(_error(case, wrong))
        elif broken := _broken(case):
            found.append(_died(case, broken))
        elif _is_only_told(case):
            found.append(_error(case, ()))
        return tuple(found)


def _broken(case: Case) -> tuple[str, ...]:
    """Return what shows that the program broke off by a fault in its own code."""
    codes = (
        sighting.pod.id
        for sighting in case.containers
        if any(ending.get("exitCode") in _FAULTS for ending in sighting.endings)
    )
    return tuple(dict.fromkeys(codes)) or tuple(one.id for one in told(case, _FAULT))


def _died(case: Case, ids: tuple[str, ...]) -> Finding:
    about = _about(case)
    return Finding(
        cause=CauseClass.APP_ERROR,
        object=about,
        confidence=0.75,
        summary=f"{about} breaks off by a fault of its own, such as an invalid memory access.",
        evidence=ids[:4],
        because="Nothing that was seen outside of it explains that.",
    )


def _is_only_told(case: Case) -> bool:
    """Whether an alert that goes on tells of errors that no log shows."""
    told = tells_of(case, Theme.ERRORS) and not tells_of(case, Theme.STATE)
    return bool(told and case.logs) and case.alert.status is not AlertStatus.RESOLVED


def _latency(case: Case, slow: tuple[Line, ...]) -> Finding:
    about = _about(case)
    said = f" ({quoted(slow[-1])})" if slow else ", and its logs do not say where the time goes"
    return Finding(
        cause=CauseClass.APP_LATENCY,
        object=about,
        confidence=0.85 if slow else 0.62,
        summary=f"{about} is slow by itself{said}.",
        evidence=ids_of(slow)[:4] or alert_ids(case),
        because="Nothing that was seen outside of it explains the time.",
    )


def _error(case: Case, wrong: tuple[Line, ...]) -> Finding:
    about = _about(case)
    themed = tells_of(case, Theme.ERRORS) or tells_of(case, Theme.CRASH)
    latency = tells_of(case, Theme.LATENCY) and not tells_of(case, Theme.ERRORS)
    sure = 0.75 if themed and wrong else 0.62
    return Finding(
        cause=CauseClass.APP_ERROR,
        object=about,
        confidence=0.55 if latency else sure,
        summary=f"{about} fails by itself"
        f"{f' ({quoted(wrong[-1])})' if wrong else ', as far as the alert tells'}.",
        evidence=ids_of(wrong)[:4] or alert_ids(case),
        because="Nothing that was seen outside of it explains the errors.",
    )


def _about(case: Case) -> ObjectRef:
    return case.workload or case.named or ObjectRef(kind="Alert", name=case.alert.title)


def _is_slow(text: str) -> bool:
    if _SLOW_SAID.search(text):
        return True
    found = _TOOK.search(text)
    return bool(found) and _in_seconds(found) >= _SLOW if found else False


def _in_seconds(found: re.Match[str]) -> float:
    return float(found["number"]) * _SECONDS[found["unit"][0].lower()]
