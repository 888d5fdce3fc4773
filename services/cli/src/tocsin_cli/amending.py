"""Read `FIELD=VALUE` as another value for one edit of a plan; pure."""

import re
from collections.abc import Sequence

from tocsin_cli.errors import UsageError
from tocsin_contracts import Edit, EditOp, Plan, Scalar
from tocsin_contracts.amending import NewValue
from tocsin_gitops.yaml_paths import path_text

_ITEMS = re.compile(r"(?:[^=\[\]]*\[[^\[\]]*\])+")
_TRUTHS = {"true": True, "false": False}


def new_values(plan: Plan, given: Sequence[str]) -> tuple[NewValue, ...]:
    """Return what is asked for; UsageError where it names no field of the plan, or more."""
    return tuple(_new_value(plan, one) for one in given)


def _new_value(plan: Plan, given: str) -> NewValue:
    field, equals, value = _split(given)
    if not equals or not field:
        raise UsageError(f"--set {given!r}: say FIELD=VALUE, such as memory=512Mi")
    edits = [one for one in plan.edits if one.op is EditOp.SET and _is_named(one, field)]
    if len(edits) != 1:
        fields = ", ".join(path_text(one.at) for one in plan.edits if one.op is EditOp.SET)
        which = "more than one field" if edits else "no field"
        raise UsageError(f"--set {field!r} is {which} of this plan, which sets: {fields or 'none'}")
    edit = edits[0]
    now = edit.renders.new if edit.renders else edit.new
    twins = [one for one in plan.edits if one.at == edit.at]
    object = edit.of if len(twins) > 1 else None
    return NewValue(object=object, path=edit.at, new=_like(now, value, given))


def _split(given: str) -> tuple[str, str, str]:
    """Split at the first sign after the list items: `[name=api]` has one of its own."""
    items = _ITEMS.match(given)
    start = items.end() if items else 0
    field, equals, value = given[start:].partition("=")
    return given[:start] + field, equals, value


def _is_named(edit: Edit, field: str) -> bool:
    text = path_text(edit.at)
    return text == field or text.endswith(f".{field}")


def _like(now: Scalar, value: str, given: str) -> Scalar:
    """Return a value of the kind that the plan sets."""
    if isinstance(now, bool):
        if value not in _TRUTHS:
            raise UsageError(f"--set {given!r}: say true or false")
        return _TRUTHS[value]
    if not isinstance(now, int | float):
        return value
    try:
        return type(now)(value)
    except ValueError:
        raise UsageError(f"--set {given!r}: {value!r} is no number") from None
