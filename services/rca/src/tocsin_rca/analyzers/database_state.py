"""Data stores that refuse to write, or have changed their role."""

import re

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.lines import ids_of, quoted, saying

_READ_ONLY = re.compile(
    r"(?i)in a read-only transaction|--(?:super-)?read-only option|super_read_only"
    r"|READONLY You can't"
    r"|running in read-only mode|database is (?:in )?read[- ]?only|server is read[- ]?only"
    r"|not(?:Writable| writable ?)Primary|not master|NotMaster|not primary|read-only replica"
    r"|is read[- ]only(?: mode)?: (?:write|insert|update)|\bread_only\s{0,3}[|=:]\s{0,3}(?:ON|1"
    r"|true)\b"
    r"|index read-only|FORBIDDEN/(?:8|12)/|\bERROR 1290\b|\bERROR 1836\b|\(1290[,)]|\(1836[,)]"
    r"|default_transaction_read_only\s{0,3}[|=:]\s{0,3}on"
)
_FILE = re.compile(r"(?i)read-only file ?system|EROFS|readonly database")
_FAILOVER = re.compile(
    r"(?i)terminating connection due to administrator command|database system is (?:starting up"
    r"|shutting"
    r" down|in recovery mode|not yet accepting)|promot(?:ed|ing) (?:\S{1,40} )?(?:to"
    r"|as) (?:new )?(?:primary|master|leader)"
    r"|\+switch-master|\+failover|\+sdown master|PrimarySteppedDown|InterruptedDueToReplStateChange"
    r"|received promote request|selected new timeline|failing over|fail-?over (?:started"
    r"|in progress|complete|triggered)"
    r"|switchover|demoted? (?:to|from|self)|no longer the leader|stepping down|lost leader"
    r"|MASTER aborted"
    r"|CLUSTERDOWN|MASTERDOWN|LOADING Redis is loading"
)


class DatabaseState:
    """A data store answers, and says that it takes no writes or that another one leads now."""

    name = "database_state"
    needs = "Logs and checks of the data store and of those who use it."
    proof = (
        "A data store says that it takes no writes, or that it restarts, steps down or has "
        "another leader."
    )
    against = (
        "A read-only file system, which is another cause; a failover told of only once, or "
        "beside refused writes, is less sure."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each of the two; a read-only file system is another cause."""
        refusing = tuple(one for one in saying(case, _READ_ONLY) if not _FILE.search(one.text))
        changing = saying(case, _FAILOVER)
        about = case.workload or case.named or ObjectRef(kind="Alert", name=case.alert.title)
        found = []
        if refusing:
            found.append(
                Finding(
                    cause=CauseClass.DATABASE_READ_ONLY,
                    object=about,
                    confidence=0.9 if changing else 0.93,
                    summary=f"The data store of {about} takes no writes ({quoted(refusing[0])}).",
                    evidence=ids_of(refusing)[:4],
                    because="Why it is read-only has to be settled at the data store.",
                )
            )
        if changing:
            found.append(
                Finding(
                    cause=CauseClass.DATABASE_FAILOVER,
                    object=about,
                    confidence=0.92 if len(changing) > 1 and not refusing else 0.8,
                    summary=f"The data store of {about} changes its role or restarts"
                    f" ({quoted(changing[0])}).",
                    evidence=ids_of(changing)[:4],
                    because="Clients follow when it is over, or have to be restarted.",
                )
            )
        return tuple(found)
