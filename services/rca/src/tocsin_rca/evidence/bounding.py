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
_REQUEST = Limits().max_new_memory
_ASKED = bytes_of(_REQUEST) or Decimal(0)
_MOST = _ASKED * Limits().max_memory_factor


def bounded(case: Case, owner: ObjectRef) -> Remedy | None:
    """Return a limit for the only container that pods of this owner run, if it has none.

    It is the next usual size above what they were seen to take, with a quarter more; never less
    than they take, which would kill what runs. None where the write policy does not go so far.
    A pod without a request asks for its limit: of a large one, it asks for what the policy gives.
    """
    seen, peak = design(case, owner), max(_taken(case, owner), default=None)
    running = [one for one in seen.data.containers() if "containers" in one.path] if seen else []
    if seen is None or peak is None or len(running) != 1:
        return None
    if running[0].dig("resources", "limits", "memory") is not None:
        return None
    size, limit = _size(peak)
    if size < peak:
        return None
    path = (*running[0].path, "resources")
    wanted = [inserted(seen.data.ref, (*path, "limits", "memory"), limit)]
    asks = running[0].dig("resources", "requests", "memory") is not None
    if size > _ASKED and not asks:
        wanted.append(inserted(seen.data.ref, (*path, "requests", "memory"), _REQUEST))
    took = f"Its pods took up to {int(peak) // 2**20}Mi"
    asked = "" if asks else f" They ask for {_REQUEST if size > _ASKED else limit} then."
    return Remedy(all_of(wanted), f"{took}; {limit} leaves them that.{asked}", (seen.id,))


def _size(peak: Decimal) -> tuple[Decimal, str]:
    """The next usual size with room above a peak, or the most that is given."""
    given = [(size, text) for size, text in MEMORY if size <= _MOST]
    return next((one for one in given if one[0] >= peak * _ROOM), given[-1])


def _taken(case: Case, owner: ObjectRef) -> Iterator[Decimal]:
    for seen in case.usage:
        usage = seen.data
        if usage.about.kind != "Pod" or not usage.memory or usage.container:
            continue
        if (owner_of(case, usage.about) or usage.about) == owner:
            yield Decimal(usage.memory)
