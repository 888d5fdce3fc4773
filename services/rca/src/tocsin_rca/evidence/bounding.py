"""A memory limit for a container that has none: what it took at most, with some room."""

from collections.abc import Iterator
from decimal import Decimal

from tocsin_contracts import ObjectRef
from tocsin_gitops.bounds import Limits
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.memory import bytes_of
from tocsin_rca.evidence.remedy import Remedy, all_of, inserted
from tocsin_rca.evidence.sizes import MEMORY

_ROOM = Decimal("1.25")
_MOST = bytes_of(Limits().max_new_memory) or Decimal(0)


def bounded(case: Case, owner: ObjectRef) -> Remedy | None:
    """Return a limit for the only container that pods of this owner run, if it has none.

    It is the next usual size above what they were seen to take, with a quarter more; where that is
    more than the write policy gives where nothing was, the most that it gives.
    """
    seen, peak = design(case, owner), max(_taken(case, owner), default=None)
    running = [one for one in seen.data.containers() if "containers" in one.path] if seen else []
    if seen is None or peak is None or len(running) != 1:
        return None
    if running[0].dig("resources", "limits", "memory") is not None:
        return None
    roomy = [text for size, text in MEMORY if peak * _ROOM <= size <= _MOST]
    limit = roomy[0] if roomy else [text for size, text in MEMORY if size <= _MOST][-1]
    path = (*running[0].path, "resources", "limits", "memory")
    changes = all_of([inserted(seen.data.ref, path, limit)])
    return Remedy(changes, _because(peak, enough=bool(roomy)), (seen.id,))


def _because(peak: Decimal, *, enough: bool) -> str:
    took = f"Its pods took up to {int(peak) // 2**20}Mi"
    if enough:
        return f"{took}; this leaves a quarter more. Without a request, they ask for as much."
    return (
        f"{took}, which starves the node; this is the most that is given where nothing was."
        " A pod that takes more is then killed in place of its neighbours."
    )


def _taken(case: Case, owner: ObjectRef) -> Iterator[Decimal]:
    for seen in case.usage:
        usage = seen.data
        if usage.about.kind != "Pod" or not usage.memory or usage.container:
            continue
        if (owner_of(case, usage.about) or usage.about) == owner:
            yield Decimal(usage.memory)
