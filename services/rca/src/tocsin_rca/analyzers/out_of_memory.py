"""Programs that say they ran out of memory where no container shows at which limit."""

from collections.abc import Iterator

from tocsin_cluster.manifest import dig
from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, alert_words, owner_of, proof, sure
from tocsin_rca.evidence.exhaustion import KILLED, ran_out
from tocsin_rca.evidence.leaking import growths
from tocsin_rca.evidence.memory import bytes_of, doubled, same_size
from tocsin_rca.evidence.pressure import node_is_short
from tocsin_rca.evidence.statements import Statement, Told

_UNKNOWN = "At which limit is not seen, so nobody can tell which would do."
_SIGKILL = 137
_KILLERS = ("Killing", "Evicted", "Preempted", "Preempting", "TaintManagerEviction")
_LIMIT = ("resources", "limits", "memory")


class OutOfMemory:
    """A table, an event or the program's own words tell of it; no status shows the container."""

    name = "out_of_memory"
    needs = (
        "Events, logs, the alert, the endings of containers, and the memory limits of the workload."
    )
    proof = (
        "Words say that memory ran out; or a container was OOMKilled without a limit, or ended "
        "with 137 under one and nothing else explains it."
    )
    against = (
        "A container OOMKilled at a known limit, a node short of memory, memory that grows; for "
        "a bare 137 also a liveness probe or an eviction."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; with a change only if there is one limit that can be at fault."""
        if any(_is_shown(ending.get("reason")) for c in case.containers for ending in c.endings):
            return tuple(_without_limit(case))
        found = ran_out(case) or _alerted(case)
        if not found:
            return tuple(_killed(case))
        if node_is_short(case) or growths(case):
            return ()
        one = max(found, key=lambda told: sure(case, told.about, 1))
        owner = owner_of(case, one.about)
        if owner is None:
            return ()
        killed = KILLED.search(one.match.group()) is not None
        change, because, ids = _change(case) if killed else (None, _UNKNOWN, ())
        return (
            Finding(
                cause=CauseClass.OOM_KILLED_LIMIT_TOO_LOW,
                object=owner,
                confidence=sure(case, one.about, 0.9 if change else 0.82),
                summary=f"{owner} ran out of memory: {one.match.group() or one.statement.text}.",
                evidence=proof(case, one.id, *ids),
                change=change,
                because=because,
            ),
        )


def _killed(case: Case) -> Iterator[Finding]:
    """Yield the container that was killed by nobody who says so, and has a limit to be met."""
    killers = case.events(reason=_KILLERS)
    for sighting in case.containers:
        killed = any(ending.get("exitCode") == _SIGKILL for ending in sighting.endings)
        declared = sighting.declared.raw if sighting.declared else sighting.runs
        limit, otherwise = dig(declared, *_LIMIT), declared.get("livenessProbe") or killers
        if killed and limit and not otherwise:
            owner = case.workload or sighting.pod.data.ref
            yield Finding(
                cause=CauseClass.OOM_KILLED_LIMIT_TOO_LOW,
                object=owner,
                confidence=0.62,
                summary=f"Container {sighting.name} of {owner} was killed; nothing but its memory"
                f" limit of {limit} is known to do that.",
                evidence=proof(case, sighting.pod.id),
            )
            return


def _change(case: Case) -> tuple[FieldChange | None, str, tuple[str, ...]]:
    """Raise the only limit there is."""
    unknown = (None, _UNKNOWN, ())
    workload = case.workload_manifest
    limited = [c for c in workload.data.containers() if c.dig(*_LIMIT)] if workload else []
    named = [c for c in limited if c.name == case.alert.labels.get("container")] or limited
    if workload is None or len(named) != 1:
        return unknown
    ref, path, limit = workload.data.ref, (*named[0].path, *_LIMIT), named[0].dig(*_LIMIT)
    commit = case.last_change(ref, path, limit, same_size)
    before = commit.field.before if commit else None
    if commit and (bytes_of(before) or 0) > (bytes_of(limit) or 0):
        because = f"{commit.told} lowered it from {before}; this undoes that."
        change = FieldChange(object=ref, path=path, old=commit.field.after, new=before)
        return change, because, (commit.seen.id,)
    new = doubled(limit)
    because = f"No commit that was seen lowered it; {new} is the next usual size from twice it."
    return (FieldChange(object=ref, path=path, old=limit, new=new), because, ()) if new else unknown


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
            change, because, ids = _change(case)
            yield Finding(
                cause=CauseClass.OOM_KILLED_LIMIT_TOO_LOW,
                object=owner,
                confidence=0.9 if change else 0.85,
                summary=f"A container of {owner} was killed for memory.",
                evidence=proof(case, sighting.pod.id, *ids),
                change=change,
                because=because,
            )
            return
