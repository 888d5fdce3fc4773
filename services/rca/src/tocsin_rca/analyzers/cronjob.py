"""CronJobs that do not run because of their own schedule, zone, policy or suspension."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.cron import fault
from tocsin_rca.evidence.statements import statements

_REASONS = {
    "UnparseableSchedule": 0.95,
    "InvalidSchedule": 0.95,
    "UnknownTimeZone": 0.95,
    "FailedNeedsStart": 0.9,
    "TooManyMissedTimes": 0.9,
    "UnexpectedJob": 0.6,
    "JobAlreadyActive": 0.86,
    "MissSchedule": 0.85,
}
_SAID = re.compile(
    r"(?i)unparseable (?:schedule|cron)|unknown (?:or bad )?time ?zone|too many missed start times"
    r"|concurrency policy is Forbid|missed scheduled time|spec\.schedule: invalid value"
    r"|spec\.timeZone: Invalid value|expected exactly 5 fields"
)
_TOO_SHORT = 10
"""Seconds: the controller looks every ten, so a shorter deadline is always missed."""


class CronJobs:
    """The controller says that it cannot run it, or its fields say that it never will."""

    name = "cronjob"
    needs = (
        "CronJobs as the cluster shows or files declare them, their commits, and what their "
        "controller said."
    )
    proof = (
        "The controller says that it cannot run the job, or its schedule, suspension or deadline "
        "means that it never will."
    )
    against = (
        "A suspended CronJob that the alert is not about; a mere notice of a Job that was not "
        "expected, which is less sure."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each CronJob; a commit that changed the field is undone."""
        found = {f.object: f for f in (*_declared(case), *_said(case))}
        return tuple(found.values())


def _said(case: Case) -> Iterator[Finding]:
    for one in statements(case):
        match = _SAID.search(one.text)
        known = one.about is not None and one.about.kind == "CronJob"
        if one.about and known and (one.reason in _REASONS or match):
            yield Finding(
                cause=CauseClass.CRONJOB_MISCONFIGURED,
                object=one.about,
                confidence=_REASONS.get(one.reason, 0.92),
                summary=f"{one.about} does not run: {one.text[:300]}",
                evidence=(one.id,),
            )


def _declared(case: Case) -> Iterator[Finding]:
    for seen in case.manifests("CronJob"):
        ours = seen.data.ref in (case.workload, case.named)
        for field, why, confidence in _faults(seen.data, ours=ours):
            path, old = ("spec", field), seen.data.dig("spec", field)
            undone = case.last_change(seen.data.ref, path, old)
            before = undone.field.before if undone else None
            edit = (
                FieldChange(object=seen.data.ref, path=path, old=old, new=before)
                if undone and before is not None
                else None
            )
            yield Finding(
                cause=CauseClass.CRONJOB_MISCONFIGURED,
                object=seen.data.ref,
                confidence=0.96 if edit else confidence,
                summary=f"{seen.data.ref} does not run as meant: {why}.",
                evidence=(seen.id, *((undone.seen.id,) if undone and edit else ())),
                change=edit,
                because=f"{undone.told} changed it; this undoes that." if undone and edit else "",
            )


def _faults(one: Manifest, *, ours: bool) -> Iterator[tuple[str, str, float]]:
    spec = one.dig("spec") or {}
    schedule = str(spec.get("schedule") or "")
    if schedule and (wrong := fault(schedule)):
        yield "schedule", f"its schedule {schedule!r} {wrong}", 0.94
    if spec.get("suspend") is True and ours:
        yield "suspend", "it is suspended", 0.9
    deadline = spec.get("startingDeadlineSeconds")
    if isinstance(deadline, int) and deadline < _TOO_SHORT:
        yield (
            "startingDeadlineSeconds",
            f"it gives up after {deadline} s, before anybody looks",
            0.85,
        )
