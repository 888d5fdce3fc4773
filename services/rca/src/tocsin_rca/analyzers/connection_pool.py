"""Pools and data stores that have no connection left to give."""

import re
from collections.abc import Iterator

from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.configured import Configured, configured
from tocsin_rca.evidence.known import running
from tocsin_rca.evidence.lines import Line, ids_of, quoted, saying
from tocsin_rca.evidence.sightings import Change
from tocsin_rca.evidence.statements import told

_SPENT = re.compile(
    r"(?i)too many (?:clients already|connections)|remaining connection slots are reserved"
    r"|connection limit exceeded|max(?:imum)? number of (?:clients|connections) reached"
    r"|QueuePool limit|HikariPool\S{0,30} - Connection is not available"
    r"|connection pool (?:is )?(?:exhausted|full|empty|timeout|at capacity|depleted|starv)"
    r"|pool (?:is )?(?:exhausted|depleted)|exhausted (?:connection )?pool|PoolExhausted"
    r"|pool is probably full|prior to obtaining a connection from the pool"
    r"|could not get a resource from the pool|no (?:more )?connections? available"
    r"|no available connections?|unable to (?:acquire|obtain|get) (?:a )?(?:jdbc )?connection"
    r"|(?:timeout|timed out)[^\n]{0,60}(?:acquir|wait|checkout|check out)[^\n]{0,40}connection"
    r"|PoolTimeout|ConnectionPoolTimeout|wait queue (?:full|timeout)|WaitQueueTimeout"
    r"|no more connections allowed|Timeout waiting for (?:idle object|connection from pool)"
    r"|connection pool[^\n]{0,60}(?:exhaust|\b100 ?%)|redis: connection pool timeout"
)
_NO_HOST = re.compile(r"All host\(s\) tried")
"""So drivers of Cassandra say that no server answers, whatever follows."""

_KNOB = re.compile(
    r"(?i)pool.{0,20}(?:size|max|limit)|max.{0,12}(?:pool|conn)|conn.{0,12}(?:max|limit)"
)


class ConnectionPool:
    """Somebody says that no connection is left."""

    name = "connection_pool"
    needs = (
        "Logs, checks and events that speak of connections, and the sizes of pools with their "
        "commits."
    )
    proof = (
        "Somebody says that no connection is left in a pool or at the data store; a commit that "
        "made the pool smaller makes it surer."
    )
    against = "A driver that says that no server answers at all."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; its change undoes a commit that made the pool smaller."""
        said = saying(case, _SPENT) or tuple(_told(case))
        found = tuple(one for one in said if not _NO_HOST.search(one.text))
        if not found:
            return ()
        knob = next(_lowered(case), None)
        return (_finding(case, found, knob),)


def _told(case: Case) -> Iterator[Line]:
    """A probe that asks the data store meets the same."""
    return (Line(one.id, one.statement.text) for one in told(case, _SPENT))


def _lowered(case: Case) -> Iterator[tuple[Configured, Change]]:
    namespace = case.workload.namespace if case.workload else ""
    for runs in running(case, namespace):
        for setting in configured(case, runs):
            change = case.last_change(setting.object, setting.path, setting.value)
            before = str(change.field.before) if change else ""
            if change and _KNOB.search(setting.name) and _is_less(setting.value, before):
                yield setting, change


def _is_less(now: str, before: str) -> bool:
    return now.isdigit() and before.isdigit() and int(now) < int(before)


def _finding(
    case: Case, found: tuple[Line, ...], knob: tuple[Configured, Change] | None
) -> Finding:
    about = case.workload or case.named or ObjectRef(kind="Alert", name=case.alert.title)
    setting, undone = knob or (None, None)
    change = None
    if setting and undone:
        change = FieldChange(
            object=setting.object,
            path=setting.path,
            old=setting.value,
            new=undone.field.before,
        )
    seen = (*ids_of(found)[:4], *((*setting.ids, undone.seen.id) if setting and undone else ()))
    return Finding(
        cause=CauseClass.CONNECTION_POOL_EXHAUSTED,
        object=change.object if change else about,
        confidence=0.95 if change else 0.92,
        summary=f"{about} has no connection left to a data store or service ({quoted(found[0])}).",
        evidence=tuple(dict.fromkeys(seen)),
        change=change,
        because=f"{undone.told} made it smaller; this undoes that."
        if undone
        else "Nothing that was seen says how many connections would be right.",
    )
