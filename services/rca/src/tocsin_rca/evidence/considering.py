"""Other values that a change could have: what the field held before, other ports, other sizes."""

from collections.abc import Iterator
from itertools import islice

from tocsin_contracts import ChangeOp, Considered, FieldChange, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.container_ports import declared_ports
from tocsin_rca.evidence.memory import bytes_of, doubled, fourfold, same_size
from tocsin_rca.evidence.sightings import Change
from tocsin_rca.evidence.undoing import histories

MOST = 4
"""Values that are told of one change."""

_SPOKEN = {"env", "data", "args", "command"}
"""Where programs are told things: what stood there once may be a secret, and is not repeated."""


def considered(case: Case, finding: Finding) -> Finding:
    """Return the finding with the values that its change could have had, and why not."""
    change = finding.change
    if change is None or change.op is not ChangeOp.SET or finding.considered:
        return finding
    found = (*_held(case, change), *_ports(case, change), *_sizes(change))
    told = {one.what: one for one in found if one.what not in (str(change.old), str(change.new))}
    return finding.model_copy(update={"considered": tuple(islice(told.values(), MOST))})


def _held(case: Case, change: FieldChange) -> Iterator[Considered]:
    """What commits show that the field held before, the newest first."""
    if _SPOKEN & set(map(str, change.path)):
        return
    found = tuple(_changes(case, change))
    if found and found[0].field.before != change.new:
        why = f"it was this until {found[0].told}; what was seen speaks for {change.new}"
        yield Considered(what=str(found[0].field.before), why_not=why)
        return
    for one in found[1:]:
        why = f"it was this until {one.told}; {change.new} came after it"
        yield Considered(what=str(one.field.before), why_not=why)


def _changes(case: Case, change: FieldChange) -> Iterator[Change]:
    target = change.object
    for seen in histories(case):
        for field in seen.data.fields:
            document = field.document
            same = (document.kind, document.name) == (target.kind, target.name)
            here = document.namespace in ("", target.namespace)
            if same and here and field.path == change.path and field.before is not None:
                yield Change(seen, field)


def _ports(case: Case, change: FieldChange) -> Iterator[Considered]:
    """The other ports of a container, for a probe of it."""
    manifest = case.manifest(change.object)
    probed = [step for step in change.path if str(step).endswith("Probe")]
    if manifest is None or not probed or change.path[-1] != "port":
        return
    inside = change.path[: change.path.index(probed[0])]
    for container in manifest.data.containers():
        if container.path != inside:
            continue
        for port in declared_ports([container]):
            if not port.is_meant_by(change.new):
                why = "the container declares it too, but nothing that was seen speaks for it"
                yield Considered(what=str(port), why_not=why)


def _sizes(change: FieldChange) -> Iterator[Considered]:
    """The next usual size of a memory limit where another one is undone, else a larger one."""
    if change.path[-2:] != ("limits", "memory") or not bytes_of(change.old):
        return
    next_size, largest = doubled(change.old), fourfold(change.old)
    if next_size and not same_size(next_size, change.new):
        why = f"the next usual size from twice {change.old}; nothing that was seen ran with it"
        yield Considered(what=next_size, why_not=why)
    elif largest and not same_size(largest, change.new):
        why = f"more can follow once {change.new} is seen to be too little"
        yield Considered(what=largest, why_not=why)
