"""Changes that commits made and that may be undone, as far as the history was seen."""

from collections.abc import Callable, Iterator

from tocsin_contracts import FieldChange, FieldPath
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.sightings import Change
from tocsin_rca.ports import ChangedField, FieldHistory


def histories(case: Case) -> tuple[Observation[FieldHistory], ...]:
    """Return what commits changed, of each object the newest first."""
    return tuple(
        Observation(seen.evidence, seen.data)
        for seen in case.observations
        if isinstance(seen.data, FieldHistory)
    )


def changes(case: Case, fits: Callable[[ChangedField], bool]) -> Iterator[Change]:
    """Yield the changed fields that fit, of each field the newest change only."""
    known: set[tuple[str, str, FieldPath]] = set()
    for seen in histories(case):
        for field in seen.data.fields:
            key = (field.document.kind, field.document.name, field.path)
            if key not in known and fits(field):
                yield Change(seen, field)
            known.add(key)


def is_start(field: ChangedField) -> bool:
    """Whether it is about how a container starts: its command and arguments."""
    return any(step in ("args", "command") for step in field.path)


def undo(case: Case, change: Change) -> FieldChange | None:
    """Return what gives the field its old value again; None if it had none or has none."""
    field = change.field
    if field.before is None or field.after is None:
        return None
    target = field.document
    if not target.namespace:
        target = target.model_copy(update={"namespace": subject(case).namespace})
    commit, old, new = change.seen.data.commit, field.after, field.before
    return FieldChange(object=target, path=field.path, old=old, new=new, undo_of=commit)
