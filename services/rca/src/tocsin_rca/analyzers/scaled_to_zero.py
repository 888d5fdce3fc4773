"""Workloads that are scaled to nothing while something depends on them."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Manifest, dig, texts
from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.calmness import is_parked
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.selectors import is_named_for, selects

_KINDS = ("Deployment", "StatefulSet")
_PATH = ("spec", "replicas")
_FOR_GOOD = re.compile(
    r"(?i)\b(?:park|retire|decommission|sunset|shut ?down|remove|closed?\b|not needed|unused)"
)
"""Words in which somebody says that nobody should miss it; to wake it up again is for them."""


class ScaledToZero:
    """The number of replicas that is asked for is zero."""

    name = "scaled_to_zero"
    needs = "The replicas that workloads ask for, Services, commits, and the names in the alert."
    proof = (
        "A workload asks for zero replicas; surer if the alert names it or a Service leads to it."
    )
    against = (
        "Nothing that was seen misses the workload; a commit that retires it on purpose is not "
        "undone."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such workload that is missed."""
        return tuple(_finding(case, one) for one in _empty(case))


def _empty(case: Case) -> Iterator[Observation[Manifest]]:
    for kind in _KINDS:
        for one in case.manifests(kind):
            if one.data.dig(*_PATH) == 0 and not is_parked(case, one.data.ref):
                yield one


def _finding(case: Case, one: Observation[Manifest]) -> Finding:
    ref, missed = one.data.ref, _missed(case, one.data)
    undone = case.last_change(ref, _PATH, 0)
    before = undone.field.before if undone else None
    declared = case.declaration(ref)
    least = before if isinstance(before, int) and before > 0 else None
    if least is None and declared and declared.data.manifest.dig(*_PATH) == 0 and missed:
        least = 1
    if undone and _FOR_GOOD.search(undone.seen.data.subject):
        least = None
    seen = (undone.seen.id,) if undone and before else ()
    return Finding(
        cause=CauseClass.ZERO_REPLICAS,
        object=ref,
        confidence=missed or 0.65,
        summary=f"{ref} is scaled to zero, so nothing answers for it.",
        evidence=(one.id, *seen),
        change=FieldChange(object=ref, path=_PATH, old=0, new=least) if least else None,
        because=_because(least, bool(seen), undone.told if undone else ""),
    )


def _because(least: int | None, undone: bool, told: str) -> str:
    if undone and least:
        return f"{told} scaled it down; this undoes that."
    return "One is the least that answers; how many are right is for its owner." if least else ""


def _missed(case: Case, one: Manifest) -> float:
    """Return how sure it is that something misses it; 0 if nothing shows that."""
    ref = one.ref
    if ref in (case.workload, case.named):
        return 0.95
    named = case.alert.workload.name if case.alert.workload else ""
    names = {named, *case.alert.labels.values()}
    labels = texts(dig(one.template, "metadata", "labels"))
    for service in case.manifests("Service"):
        wanted = texts(service.data.dig("spec", "selector"))
        own = service.data.ref.name
        if selects(wanted, labels) or is_named_for(own, ref.name):
            return 0.93 if own in names else 0.9
    return 0.93 if any(is_named_for(name, ref.name) for name in names) else 0.0
