"""The form that gives a plan other values: its fields, and what was typed into them; pure."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tocsin_contracts import ApprovalRequested, FieldChange, Scalar
from tocsin_contracts.amending import NewValue
from tocsin_gateway import refusals
from tocsin_gateway.amendments import Amend
from tocsin_gateway.console import forms, wording
from tocsin_gateway.refusals import RefusedError
from tocsin_kit import revaluing
from tocsin_kit.approvals import Refusal

MOST_VALUES = forms.MOST_FIELDS - 4
"""In one form, beside its other fields."""

_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class ValueField:
    """A value of a plan that may be another one; `name` is what the form calls it."""

    name: str
    label: str
    change: FieldChange

    @property
    def now(self) -> str:
        """The value that the plan sets, as it is typed."""
        return _typed(self.change.new)

    @property
    def is_truth(self) -> bool:
        """Whether it is true or false, and nothing else."""
        return isinstance(self.change.new, bool)

    @property
    def is_number(self) -> bool:
        """Whether only a number can stand there."""
        return not self.is_truth and isinstance(self.change.new, int | float)

    def read(self, typed: str) -> Scalar:
        """Return what was typed as a value of its kind; RefusedError if it is none."""
        if self.is_truth:
            return _truth(self, typed)
        return _number(self, typed) if self.is_number else typed


def fields(asked: ApprovalRequested) -> tuple[ValueField, ...]:
    """Return the values of a plan that may be others."""
    found = revaluing.open_fields(asked.hypothesis.finding)[:MOST_VALUES]
    several = len({change.object for change in found}) > 1
    return tuple(
        ValueField(f"value-{place}", _label(change, several=several), change)
        for place, change in enumerate(found)
    )


def wish(asked: ApprovalRequested, form: Mapping[str, str]) -> Amend:
    """Return what a form asks for of the plan that it names; RefusedError if that is nothing."""
    plan_hash, reason = forms.plan_hash(form), forms.reason(form)
    if plan_hash != asked.plan.plan_hash:
        raise refusals.refused(Refusal.PLAN_CHANGED)
    changes = tuple(_changes(asked, form))
    if not changes:
        raise RefusedError(422, "no value is another one", "change one of them")
    return Amend(plan_hash=plan_hash, changes=changes, reason=reason)


def _changes(asked: ApprovalRequested, form: Mapping[str, str]) -> Iterator[NewValue]:
    for field in fields(asked):
        typed = form.get(field.name, field.now).strip()
        if typed != field.now.strip():
            change = field.change
            yield NewValue(object=change.object, path=change.path, new=field.read(typed))


def _label(change: FieldChange, *, several: bool) -> str:
    field = wording.place(change.path)
    return f"{change.object.kind} {change.object.name}: {field}" if several else field


def _typed(value: Scalar) -> str:
    return value if isinstance(value, str) else revaluing.text(value)


def _truth(field: ValueField, typed: str) -> bool:
    if typed not in _TRUTHS:
        raise RefusedError(422, f"{field.label} is true or false", "choose one of them")
    return _TRUTHS[typed]


def _number(field: ValueField, typed: str) -> int | float:
    try:
        value = int(typed) if isinstance(field.change.new, int) else float(typed)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RefusedError(422, f"{typed!r} is no number", f"{field.label} takes one")
    return value
