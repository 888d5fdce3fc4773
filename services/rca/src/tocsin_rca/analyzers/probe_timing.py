"""Liveness probes that kill a program which is only slow: to start, or to answer."""

import re

from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import sure
from tocsin_rca.evidence.container_ports import declared_ports
from tocsin_rca.evidence.probing import FailingProbe, probes_failing
from tocsin_rca.evidence.remedy import inserted

_LATE = re.compile(
    r"(?i)timeout|deadline exceeded|timed out|connection refused|statuscode: 50[0-4]|NOT_SERVING"
    r"|reset by peer"
)
_SLOW_ANSWER = re.compile(r"(?i)Client\.Timeout|deadline exceeded|timed out|timeout")
_STARTED = re.compile(
    r"(?i)\b(?:started|ready|startup|initiali[sz]\w{1,5}|boot\w{0,4}"
    r"|up and running)\b[^\n]{0,60}? (?:in|took"
    r"|after) (?P<seconds>\d{1,4}(?:\.\d{1,4})?) ?s(?:ec\w{0,5})?\b"
)
_STARTING = re.compile(
    r"(?i)\b(?:warming|loading|starting|initiali[sz]ing|migrat\w{1,5}|booting|preloading"
    r"|building index|waiting for|slow start|sleep)"
)
_CRASH = re.compile(
    r"(?i)\bpanic:|Traceback \(most|\bfatal\b|Exception in thread|OutOfMemory|segmentation fault"
    r"|address already in use"
)
_SHORT = 12
_UNHURRIED = 3
_ENOUGH = 30
_PATIENT = 5
"""Seconds that a program under load may take to answer."""

_BY_SIGNAL = (0, 2, 130, 137, 143)
_LONGEST = 32_000


class ProbeTiming:
    """The probe asks the right thing, and does not wait for the answer."""

    name = "probe_timing"
    needs = (
        "The failing liveness or startup probe with its times, endings, and logs that tell of the "
        "start."
    )
    proof = (
        "The probe meets late or refused answers, and gives up sooner than the program starts or "
        "than a loaded program answers."
    )
    against = (
        "A crash in the logs, an ending by an error of its own, a probe that asks an undeclared "
        "port, a readiness probe."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each liveness probe that leaves too little time."""
        found = (_finding(case, one) for one in probes_failing(case) if one.decides_life)
        return tuple(finding for finding in found if finding)


def _finding(case: Case, failing: FailingProbe) -> Finding | None:
    if not failing.saying(_LATE) or not failing.declared or _asks_elsewhere(failing):
        return None
    logs = "\n".join(log.data.text[-_LONGEST:] for log in case.logs)
    if _CRASH.search(logs) or _crashes(case, failing):
        return None
    takes = max((float(one["seconds"]) for one in _STARTED.finditer(logs)), default=0.0)
    budget = _budget(failing)
    cause, confidence = _cause(failing, budget, takes, logs)
    if cause is None:
        return None
    changes = [one for one in (_change(failing, takes, cause), _patience(failing, cause)) if one]
    return Finding(
        cause=cause,
        object=failing.owner,
        confidence=sure(case, failing.told[0].about, confidence),
        summary=f"The {failing.word} probe of {failing.owner} kills it after {budget} s of silence"
        f"{f', and it takes {takes:g} s to start' if takes else ''}:"
        f" {failing.told[0].match.group()[:200].strip()}",
        evidence=(*failing.evidence, *(log.id for log in case.logs[:2])),
        change=changes[0] if changes else None,
        further=tuple(changes[1:]),
        because="It leaves the program about half a minute, or twice what it takes."
        if changes
        else "",
    )


def _cause(
    failing: FailingProbe, budget: int, takes: float, logs: str
) -> tuple[CauseClass | None, float]:
    hasty = (
        failing.seconds("failureThreshold") == 1 or failing.seconds("periodSeconds") < _UNHURRIED
    )
    if budget <= _SHORT or (hasty and budget <= _ENOUGH):
        return CauseClass.LIVENESS_PROBE_TOO_AGGRESSIVE, 0.93
    starting = takes >= budget or _STARTING.search(logs)
    if failing.container and not failing.container.dig("startupProbe"):
        if starting:
            return CauseClass.STARTUP_PROBE_MISSING, 0.92 if takes >= budget else 0.84
        if not failing.saying(_SLOW_ANSWER):
            return CauseClass.STARTUP_PROBE_MISSING, 0.68
    if failing.saying(_SLOW_ANSWER):
        return CauseClass.LIVENESS_PROBE_TOO_AGGRESSIVE, 0.8
    return None, 0.0


def _budget(failing: FailingProbe) -> int:
    tries = failing.seconds("periodSeconds") * failing.seconds("failureThreshold")
    return failing.seconds("initialDelaySeconds") + tries


def _asks_elsewhere(failing: FailingProbe) -> bool:
    ports = declared_ports([failing.container]) if failing.container else ()
    asked = failing.asks.get("port")
    return bool(ports) and asked is not None and not any(p.is_meant_by(asked) for p in ports)


def _crashes(case: Case, failing: FailingProbe) -> bool:
    """Whether a container ended with an error of its own, and nobody killed it."""
    if any(one.data.reason == "Killing" for one in case.events()):
        return False
    codes = [end.get("exitCode") for s in case.containers for end in s.endings]
    return bool(codes) and all(code not in _BY_SIGNAL for code in codes)


def _change(failing: FailingProbe, takes: float, cause: CauseClass) -> FieldChange | None:
    """Raise the number of tries, which is the least that gives it time."""
    tries, period = failing.declared.get("failureThreshold"), failing.seconds("periodSeconds")
    if cause is CauseClass.STARTUP_PROBE_MISSING and not takes:
        return None
    if not failing.is_declared or not isinstance(tries, int) or period < 1:
        return None
    wanted = max(_ENOUGH, 2 * takes)
    new = max(3, -int(-(wanted - failing.seconds("initialDelaySeconds")) // period))
    if new <= tries:
        return None
    path = failing.path("failureThreshold")
    return FieldChange(object=failing.owner, path=path, old=tries, new=new)


def _patience(failing: FailingProbe, cause: CauseClass) -> FieldChange | None:
    """Where every answer is late, and not absent, it is the time of one try that is too short."""
    late = len(failing.saying(_SLOW_ANSWER)) == len(failing.saying(_LATE))
    waits = failing.declared.get("timeoutSeconds")
    if cause is not CauseClass.LIVENESS_PROBE_TOO_AGGRESSIVE or not late or not failing.is_declared:
        return None
    if waits not in (None, 1) or failing.seconds("periodSeconds") < _PATIENT:
        return None
    path = failing.path("timeoutSeconds")
    if waits is None:
        return inserted(failing.owner, path, _PATIENT)
    return FieldChange(object=failing.owner, path=path, old=waits, new=_PATIENT)
