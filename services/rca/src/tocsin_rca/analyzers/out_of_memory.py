"""Programs that say they ran out of memory where no container shows at which limit."""

from collections.abc import Iterator

from tocsin_cluster.manifest import dig
from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, owner_of, proof, sure
from tocsin_rca.evidence.exhaustion import KILLED, ran_out
from tocsin_rca.evidence.growth import only_grows
from tocsin_rca.evidence.pressure import node_is_short
from tocsin_rca.evidence.statements import Statement, Told


class OutOfMemory:
    """A table, an event or the program's own words tell of it; the limit itself was not seen."""

    name = "out_of_memory"

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding, without a change as no limit is known to be at fault."""
        if any(_is_shown(ending.get("reason")) for c in case.containers for ending in c.endings):
            return tuple(_without_limit(case))
        found = ran_out(case) or _alerted(case)
        if not found or node_is_short(case) or any(only_grows(log.data.text) for log in case.logs):
            return ()
        one = max(found, key=lambda told: sure(case, told.about, 1))
        owner = owner_of(case, one.about)
        if owner is None:
            return ()
        return (
            Finding(
                cause=CauseClass.OOM_KILLED_LIMIT_TOO_LOW,
                object=owner,
                confidence=sure(case, one.about, 0.82),
                summary=f"{owner} ran out of memory: {one.match.group() or one.statement.text}.",
                evidence=proof(case, one.id),
                because="At which limit is not seen, so nobody can tell which would do.",
            ),
        )


def _alerted(case: Case) -> tuple[Told, ...]:
    words, ids = alert_words(case), alert_id(case)
    match = KILLED.search(words)
    return (Told(Statement(ids[0], None, "", words[:200]), match),) if match and ids else ()


def _is_shown(reason: object) -> bool:
    return reason == "OOMKilled"


def _without_limit(case: Case) -> Iterator[Finding]:
    """Return the killed container that declares no limit, if it is one."""
    for sighting in case.containers:
        runs = (sighting.declared.raw if sighting.declared else {}, sighting.runs)
        limited = any(dig(one, "resources", "limits", "memory") for one in runs)
        killed = any(_is_shown(ending.get("reason")) for ending in sighting.endings)
        if killed and not limited and not node_is_short(case):
            owner = case.workload or sighting.pod.data.ref
            yield Finding(
                cause=CauseClass.OOM_KILLED_LIMIT_TOO_LOW,
                object=owner,
                confidence=0.85,
                summary=f"Container {sighting.name} of {owner} was killed for memory; the limit"
                " was not seen.",
                evidence=proof(case, sighting.pod.id),
                because="Without the limit nobody can tell which one would do.",
            )
            return
