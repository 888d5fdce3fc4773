"""CPU that is saturated where no limit is the cause."""

import re
from collections.abc import Iterator

from tocsin_cluster.port import Usage
from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, is_ours, owner_of, proof
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.statements import line_of

_ALERT = re.compile(
    r"(?i)high ?cpu|cpu ?(?:high|usage|utili[sz]ation|overload|saturat|stress|load|burn)"
    r"|nodecpu|hostcpu|cpu.{0,60}(?:above|over|exceed|at|>) ?\d{2,3} ?%|system ?saturation"
    r"|load average"
)
_MEASURED = re.compile(
    r"(?i)cpu[^\n]{0,60}(?:anomal|spik|saturat|overload|abnormal|\b(?:9\d|100)(?:\.\d{1,4})? ?%)"
    r"|stress-ng|\bstress --cpu"
)
_LIMITED = re.compile(r"(?i)throttl")
_BUSY = 0.9


class CpuOverload:
    """A node, or what runs on it, takes all the CPU that there is."""

    name = "cpu_overload"
    needs = "The alert, the CPU that nodes and containers take, and what checks measured."
    proof = (
        "The alert is about high CPU, nine tenths of the CPU are taken, or a check says that it "
        "is saturated; two of these are surer."
    )
    against = "Words about throttling, which point to a limit; a single sign that is not the alert."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; more capacity or less load is for a person to choose."""
        alerted = _is_alerted(case)
        busy, said = tuple(_busy(case)), tuple(_checked(case))
        if not (alerted or busy or said):
            return ()
        subject = _subject(case, busy, alerted)
        signs = sum((alerted, bool(busy), bool(said)))
        ids = (*(one.id for one in busy[:3]), *said[:3], *(alert_id(case) if alerted else ()))
        return (
            Finding(
                cause=CauseClass.CPU_OVERLOAD,
                object=subject,
                confidence=0.9 if signs > 1 else 0.78 if alerted else 0.62,
                summary=f"{subject} has no CPU left; no limit of its own is the cause.",
                evidence=proof(case, *ids) if subject == case.workload else tuple(ids),
            ),
        )


def _is_alerted(case: Case) -> bool:
    words = alert_words(case)
    return _ALERT.search(words) is not None and _LIMITED.search(words) is None


def _busy(case: Case) -> Iterator[Observation[Usage]]:
    return (one for one in case.usage if (one.data.cpu_share or 0) >= _BUSY)


def _checked(case: Case) -> Iterator[str]:
    for seen in case.checks:
        found = _MEASURED.search(seen.data.text[:64_000])
        if found and not _LIMITED.search(line_of(found)):
            yield seen.id


def _subject(case: Case, busy: tuple[Observation[Usage], ...], alerted: bool) -> ObjectRef:
    """Return what is overloaded: of the alert, or else the busy node."""
    own = case.workload or case.named
    if own and (alerted or not busy):
        return own
    about = busy[0].data.about if busy else None
    if about and not is_ours(case, about) and own:
        return about
    fallback = ObjectRef(kind="Node", name=case.alert.labels.get("node") or "unknown")
    return about or owner_of(case, None) or fallback
