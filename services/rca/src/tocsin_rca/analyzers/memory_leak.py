"""Programs whose memory grows without bound, which no limit cures."""

import re
from collections.abc import Iterator

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, owner_of, proof, sure
from tocsin_rca.evidence.exhaustion import ran_out, was_killed
from tocsin_rca.evidence.leaking import growths
from tocsin_rca.evidence.statements import logged, told

_SAID = re.compile(
    r"(?i)memory leak(?! ?(?:detector|detection|check|test))|leak(?:ing|ed) memory"
    r"|(?:heap|memory|rss|working.?set|cache)[^\n]{0,60}(?:keeps (?:growing|increasing|rising"
    r"|climbing)|(?:grow|increas|ris|climb)(?:s|es|ing|n|e|en)? (?:steadily|continuously"
    r"|constantly|monotonically|without (?:bound|limit)|linearly|unbounded|over time|until)"
    r"|(?:steadily|continuously|constantly|linearly) (?:grow|increas|ris|climb)"
    r"|never (?:released|freed|evict|shrink|cleared))"
    r"|unbounded[^\n]{0,20}(?:cache|growth|memory)"
)
_DENIED = re.compile(r"(?i)\bno (?:memory )?leak|leak[^\n]{0,20}(?:fixed|resolved|ruled out)")


class MemoryLeak:
    """The log reports memory that only grows, or the program or the alert calls it a leak."""

    name = "memory_leak"
    needs = (
        "Memory over time in logs and measurements, the program in the manifest, and the alert's "
        "words."
    )
    proof = (
        "Memory only ever grows by logs or measurements, or the program or the alert calls it a "
        "leak."
    )
    against = (
        "The line says that there is no leak or that it was fixed; growth that killed nothing is "
        "weaker."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; a leak is cured in the program, so there is no change."""
        return tuple(_findings(case))[:1]


def _findings(case: Case) -> Iterator[Finding]:
    fatal = bool(ran_out(case)) or was_killed(case)
    for grows in growths(case):
        confidence = 0.94 if fatal else 0.8 if grows.measured else 0.5
        yield _finding(case, _owner(case, grows.pod), confidence, grows.how, grows.id)
    for one in (*logged(case, _SAID), *told(case, _SAID)):
        if not _DENIED.search(one.statement.text):
            said = f"it says so: {one.match.group()}"
            confidence = sure(case, one.about, 0.93 if ran_out(case) else 0.82)
            yield _finding(case, owner_of(case, one.about), confidence, said, one.id)
    alerted = _SAID.search(alert_words(case))
    if alerted:
        yield _finding(case, case.workload, 0.85, "the alert calls it a leak", *alert_id(case))


def _owner(case: Case, pod: str) -> ObjectRef | None:
    named = next((seen.data.ref for seen in case.objects("Pod") if seen.data.ref.name == pod), None)
    return owner_of(case, named)


def _finding(
    case: Case, owner: ObjectRef | None, confidence: float, said: str, *ids: str
) -> Finding:
    subject = owner or case.named or ObjectRef(kind="Pod", name="unknown")
    return Finding(
        cause=CauseClass.MEMORY_LEAK,
        object=subject,
        confidence=confidence,
        summary=f"{subject} leaks memory: {said}.",
        evidence=proof(case, *ids),
        because="A higher limit would only be met later.",
    )
