"""Programs that ran out of memory: how their runtimes, the kernel and tables of pods say so."""

import re

from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.statements import Told, logged, statements, told

OUT_OF_MEMORY = re.compile(
    r"java\.lang\.OutOfMemoryError(?:: (?:Java heap space|GC overhead|Metaspace|Direct buffer"
    r"|unable to create)[^\n]{0,60})?|JavaScript heap out of memory|Reached heap limit Allocation"
    r"|fatal error: runtime: (?:out of memory|cannot allocate memory)|\bMemoryError\b"
    r"|std::bad_alloc"
    r"|Cannot allocate memory|failed to allocate memory|NoMemoryError"
    r"|Allowed memory size of \d{1,15}"
    r" bytes exhausted|System\.OutOfMemoryException|memory allocation of \d{1,15} bytes failed"
)
KILLED = re.compile(
    r"OOM-?[Kk]ill(?:ed|ing)\b|invoked oom-killer|Memory cgroup out of memory"
    r"|oom-kill:constraint=CONSTRAINT_MEMCG"
)


def ran_out(case: Case) -> tuple[Told, ...]:
    """Return what says that a program ran out of memory, the words of the program last."""
    reasons = tuple(
        Told(one, match)
        for one in statements(case)
        if (match := KILLED.search(f"{one.reason} {one.text}"))
    )
    return (*reasons, *(() if reasons else told(case, KILLED)), *logged(case, OUT_OF_MEMORY))


def was_killed(case: Case) -> bool:
    """Whether the status of a container shows that it was killed for memory."""
    endings = (ending for container in case.containers for ending in container.endings)
    return any(ending.get("reason") == "OOMKilled" for ending in endings)
