"""Decide which file takes in, or gives up, what is more than another value of a field."""

from dataclasses import replace

from tocsin_contracts import ChangeOp, FieldChange, FieldPath
from tocsin_gitops.layers import setters
from tocsin_gitops.owners import Owner
from tocsin_gitops.placements import Checkout, Placement
from tocsin_gitops.yaml_paths import is_key


def around(path: FieldPath) -> FieldPath:
    """Return what has to be there for a field to be added: the list item, or the section."""
    last = max((at for at, step in enumerate(path) if not is_key(step)), default=0)
    return path[: last + 1]


def looked_for(change: FieldChange) -> FieldPath:
    """Return the path by which it is told whom a change would reach."""
    return around(change.path) if change.op is ChangeOp.INSERT else change.path


def owners(checkout: Checkout, placement: Placement, change: FieldChange) -> list[Owner]:
    """Return what sets a field, or for a new one what it could go into; the last one decides.

    A new field goes into the last layer that has something to say about the same list item or
    section; one that is there already is returned with its value, which is not what was expected.
    """
    found = list(setters(checkout, placement, change.path))
    if change.op is not ChangeOp.INSERT or found:
        return found
    places = setters(checkout, placement, around(change.path), inside=False)
    return [replace(place, value=None, effective=None) for place in places]


def divided(found: list[Owner], change: FieldChange) -> str:
    """Say why several layers that set a field keep it from being taken away; empty if none do."""
    if change.op is not ChangeOp.DELETE or not found[:-1]:
        return ""
    return f"{found[-1]}, and without that {found[-2].file!r} would"
