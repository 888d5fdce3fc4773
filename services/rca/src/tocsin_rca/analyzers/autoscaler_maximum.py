"""Autoscalers at their maximum while the metric stays over its target."""

import math
import re

from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_gitops.bounds import Limits
from tocsin_rca.evidence.autoscalers import Autoscaler, autoscalers
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, proof
from tocsin_rca.evidence.doubts import Doubt, explained, weighed
from tocsin_rca.evidence.statements import statements
from tocsin_rca.evidence.unscheduled import unscheduled

_ALERT = re.compile(r"(?i)hpa.?maxed|maxed ?out|(?:hpa|autoscaler).{0,80}\bmax(?:imum)?\b")
_LIMITED = re.compile(r"desired replica count is (?:more|greater) than the maximum replica count")
_FURTHEST = 2
_FEW = Limits().max_new_replicas
_Change = tuple[FieldChange | None, str, tuple[str, ...]]


class AutoscalerMaximum:
    """The autoscaler wants more replicas than its maximum allows."""

    name = "autoscaler_maximum"
    needs = "The autoscaler with its conditions, its maximum and its replicas, and the alert."
    proof = (
        "It runs as many replicas as it may, and a condition, the metric over its target or the "
        "alert says that it wants more."
    )
    against = (
        "Fewer replicas than the maximum, an autoscaler that cannot compute at all, and pods "
        "that already wait for a node."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; the maximum is at most doubled."""
        found = [scaler for scaler in autoscalers(case) if _is_limited(case, scaler)]
        return tuple(_finding(case, scaler) for scaler in found[:1])


def _is_limited(case: Case, scaler: Autoscaler) -> bool:
    if scaler.condition("ScalingActive").startswith("False"):
        return False
    at_most = scaler.most is not None and scaler.current == scaler.most
    if scaler.condition("ScalingLimited") == "True TooManyReplicas":
        return scaler.current is None or at_most
    said = any(_LIMITED.search(s.text) for s in statements(case) if s.about == scaler.ref)
    over = scaler.ratio is not None and scaler.ratio > 1
    alerted = _ALERT.search(alert_words(case)) is not None
    return (said or over or alerted) and (at_most or (scaler.current is None and said | alerted))


def _finding(case: Case, scaler: Autoscaler) -> Finding:
    change, because, ids = _change(case, scaler)
    waiting = unscheduled(case)
    doubts = [Doubt("pods already wait for a node", 0.35)] if waiting else []
    ratio = f", its metric at {scaler.ratio:.0%} of the target" if scaler.ratio else ""
    return Finding(
        cause=CauseClass.HPA_MAX_TOO_LOW,
        object=scaler.ref,
        confidence=weighed(0.94, doubts),
        summary=f"{scaler.ref} is at its maximum of {scaler.most} replicas{ratio}.",
        evidence=proof(case, *alert_id(case), scaler.seen.id, *ids),
        change=change,
        because=explained(because, doubts),
    )


def _change(case: Case, scaler: Autoscaler) -> _Change:
    path, most = ("spec", "maxReplicas"), scaler.most
    if most is None:
        return None, "The maximum itself was not seen.", ()
    commit = case.last_change(scaler.ref, path, most)
    before = commit.field.before if commit else None
    if commit and isinstance(before, int) and before > most:
        because = f"{commit.told} lowered it from {before}; this undoes that."
        change = FieldChange(object=scaler.ref, path=path, old=most, new=before)
        return change, because, (commit.seen.id,)
    wanted = math.ceil(most * scaler.ratio) if scaler.ratio and scaler.ratio > 1 else None
    furthest = max(_FURTHEST * most, _FEW)
    new = min(furthest, max(wanted, most + 1)) if wanted else _FURTHEST * most
    because = (
        f"At this load {wanted} replicas would meet the target; no more than {furthest} are given."
        if wanted
        else f"{new} is twice {most}: the autoscaler makes no more than it needs."
    )
    return FieldChange(object=scaler.ref, path=path, old=most, new=new), because, ()
