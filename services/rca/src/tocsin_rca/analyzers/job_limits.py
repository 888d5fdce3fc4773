"""Jobs that ran out of time, or out of tries."""

import re

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import sure
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.statements import Statement, statements, told

_TIME = re.compile(
    r"(?i)DeadlineExceeded|active longer than (?:the )?specified deadline"
    r"|active on the node longer than"
)
_TRIES = re.compile(
    r"(?i)BackoffLimitExceeded|reached the specified backoff limit|exceeded its backoff limit"
    r"|PodFailurePolicy|MaxFailedIndexesExceeded"
)
_KINDS = ("Job", "Pod", "CronJob")


class JobLimits:
    """The Job controller says that it gave up."""

    name = "job_limits"
    needs = "The events, conditions and printed texts of Jobs and of their pods."
    proof = (
        "Kubernetes says that a Job or its pod was active past the deadline, or that the Job "
        "used up its tries."
    )
    against = (
        "The deadline is that of a call; tries that ran out are weaker, as something else made "
        "them fail."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; that tries ran out is only what came of something."""
        for pattern, what, confidence in ((_TIME, "time", 0.9), (_TRIES, "tries", 0.66)):
            for one in statements(case):
                if _is_said(one, pattern):
                    return (_finding(case, one, what, confidence),)
            for printed in told(case, pattern):
                if printed.about is None and _is_of_job(case):
                    return (_finding(case, printed.statement, what, confidence),)
        return ()


def _is_of_job(case: Case) -> bool:
    """Deadlines of calls are called the same."""
    return bool(case.workload and case.workload.kind in _KINDS) or "job_name" in case.alert.labels


def _is_said(one: Statement, pattern: re.Pattern[str]) -> bool:
    of_a_job = one.about is not None and one.about.kind in _KINDS
    return of_a_job and bool(pattern.search(f"{one.reason} {one.text}"))


def _finding(case: Case, one: Statement, what: str, confidence: float) -> Finding:
    who = subject(case, one.about)
    return Finding(
        cause=CauseClass.JOB_DEADLINE_OR_BACKOFF,
        object=who,
        confidence=sure(case, one.about, confidence),
        summary=f"{who} ran out of {what}: {one.text[:300]}",
        evidence=(one.id,),
    )
