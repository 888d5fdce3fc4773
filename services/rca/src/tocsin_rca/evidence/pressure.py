"""Nodes that are short of memory or disk, by their conditions and by what was reported."""

import re

from tocsin_cluster.manifest import Manifest
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.statements import Told, statements, told

LOW_MEMORY = re.compile(
    r"node was low on resource: memory|node had condition: \[[^\]\n]{0,60}MemoryPressure"
    r"|attempting to reclaim memory|status is now: NodeHasInsufficientMemory"
    r"|System OOM encountered|oom-kill:constraint=CONSTRAINT_NONE"
)
_REASON = re.compile(r"SystemOOM|NodeHasInsufficientMemory")


def short_of_memory(case: Case) -> tuple[Told, ...]:
    """Return what says that a node ran short of memory: evictions first, then conditions."""
    return told(case, LOW_MEMORY) or tuple(
        Told(one, match)
        for one in statements(case)
        if (match := _REASON.match(one.reason)) is not None
    )


def pressed_nodes(case: Case, condition: str) -> tuple[tuple[str, Manifest], ...]:
    """Return the nodes with a condition, such as MemoryPressure, with the id of their evidence."""
    return tuple(
        (node.id, node.data)
        for node in case.objects("Node")
        if any(
            c.get("type") == condition and c.get("status") == "True"
            for c in node.data.items("status", "conditions")
        )
    )


def node_is_short(case: Case) -> bool:
    """Whether anything says that a node is short of memory."""
    return bool(short_of_memory(case) or pressed_nodes(case, "MemoryPressure"))
