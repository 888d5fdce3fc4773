"""Other values for a change that is to be made: which may be given, and what it is then; pure."""

import json
from collections.abc import Sequence

from tocsin_contracts import ChangeOp, FieldChange, Finding, Hypothesis, ObjectRef, Scalar
from tocsin_contracts.amending import NewValue
from tocsin_contracts.diagnosis import Amendment
from tocsin_kit.untrusted import line

REASON, VALUE = 500, 100
"""Characters of a reason and of a value that other people are shown."""

LONGEST = 1000
"""Characters of a value."""


def open_fields(finding: Finding) -> tuple[FieldChange, ...]:
    """Return the changes whose value may be another one: those that set a plain value."""
    plain = (c for c in finding.changes if (c.before, c.after) == (c.old, c.new))
    return tuple(change for change in plain if change.op is ChangeOp.SET)


def amended(
    hypothesis: Hypothesis, changes: Sequence[NewValue], *, plan_hash: str, by: str, reason: str
) -> Hypothesis | str:
    """Return the hypothesis with the values that a person gave, or why they cannot be given."""
    finding, told = hypothesis.finding, []
    for wanted in changes:
        found = _change(finding, wanted)
        if isinstance(found, str):
            return found
        told.append(f"{said(found.path)}: {text(found.new)} -> {text(wanted.new)}")
        finding = revalued(finding, found, wanted.new, "")
    amendment = Amendment(by=by, plan_hash=plan_hash, changes=tuple(told), reason=reason)
    because = f"{by} gave another value: {'; '.join(told)}."
    if reason:
        because += f" Why: {line(reason, REASON)}"
    return hypothesis.model_copy(
        update={
            "finding": finding.model_copy(update={"because": because}),
            "amendments": (*hypothesis.amendments, amendment),
        }
    )


def revalued(finding: Finding, change: FieldChange, new: Scalar, because: str) -> Finding:
    """Return a finding of which one change sets another value; it undoes no commit any more."""
    asked = change.model_copy(update={"new": new, "undo_of": ""})
    changes = [asked if one == change else one for one in finding.changes]
    update = {"change": changes[0], "further": tuple(changes[1:]), "because": because}
    return finding.model_copy(update=update)


def is_meant(named: ObjectRef | None, object: ObjectRef | None) -> bool:
    """Whether an object may be the one that is named: a file may leave its namespace out."""
    if named is None or object is None:
        return True
    spaces = {named.namespace, object.namespace} - {""}
    return (named.kind, named.name) == (object.kind, object.name) and len(spaces) <= 1


def text(value: Scalar) -> str:
    """Return a value as people write it."""
    return line(value, VALUE) if isinstance(value, str) else json.dumps(value)


def said(path: Sequence[str | int]) -> str:
    """Return a field in a few words: its last step, and the list items that lead there."""
    names = [str(step) for step in path[:-1] if str(step).startswith("[")]
    return " ".join([*names, str(path[-1])])


def _change(finding: Finding, wanted: NewValue) -> FieldChange | str:
    named = [
        one
        for one in open_fields(finding)
        if one.path == wanted.path and is_meant(wanted.object, one.object)
    ]
    name = said(wanted.path)
    if not named:
        return f"the plan sets no plain value at {name!r}"
    if len(named) > 1:
        return f"{name!r} is a field of {len(named)} objects: say of which"
    if why := _unfit(wanted.new, named[0].new):
        return f"{name!r}: {why}"
    return named[0]


def _unfit(new: Scalar, old: Scalar) -> str:
    """Return why a value cannot stand in place of another, or an empty string."""
    if new == old:
        return f"the plan sets {text(new)} already"
    if _kind(new) is not _kind(old):
        return f"{text(new)} is of another kind than {text(old)}"
    if isinstance(new, str) and not 0 < len(new.strip()) <= LONGEST:
        return f"a value has 1 to {LONGEST} characters"
    return ""


def _kind(value: Scalar) -> type:
    return float if type(value) is int else type(value)
