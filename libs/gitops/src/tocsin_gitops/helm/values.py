"""Decide which document takes in the change of a value: the last layer that sets it, if it may."""

from dataclasses import dataclass, replace
from typing import Any

from tocsin_contracts import ChangeOp, FieldPath, ObjectRef, Place, Tree
from tocsin_gitops.helm.candidates import Candidate
from tocsin_gitops.helm.chart import Chart
from tocsin_gitops.helm.layers import Layer
from tocsin_gitops.helm.sharing import others
from tocsin_gitops.located import Reason
from tocsin_gitops.manifests import VALUES
from tocsin_gitops.placements import Checkout
from tocsin_gitops.yaml_nodes import EditRefused
from tocsin_gitops.yaml_paths import path_text


class Kept(EditRefused):
    """A value that is known, and that may not or cannot be changed where it stands."""

    def __init__(self, sentence: str, reason: Reason = Reason.UNEDITABLE) -> None:
        super().__init__(sentence)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Landing:
    """Where the change of a value is made: `old` and `new` in the words of the document."""

    file: str
    document: ObjectRef
    path: FieldPath
    op: ChangeOp
    old: Tree
    new: Tree
    told: str


@dataclass(frozen=True, slots=True)
class Release:
    """What there is to decide by."""

    chart: Chart
    place: Place
    layers: list[Layer]
    checkout: Checkout


def land(release: Release, wanted: Candidate) -> Landing:
    """Return where a candidate's change belongs; Kept with the reason if that is nowhere."""
    setting = [one for one in release.layers if _sets(one.values, wanted.path)]
    owner = setting[-1] if setting else None
    where = path_text(wanted.path)
    if owner and owner.hidden:
        raise Kept(f"{release.place.by} sets {where} itself, and not in a way to edit here")
    if wanted.op is ChangeOp.DELETE and len(setting) > 1:
        raise Kept(f"{setting[-1]} sets {where}, and without that {setting[-2]} would")
    if owner and owner.holder:
        return _in(owner, wanted, f"{owner} sets {where}, which wins over the files")
    return _in_files(release, wanted, owner)


def _in_files(release: Release, wanted: Candidate, owner: Layer | None) -> Landing:
    files = [one for one in release.layers if one.file and not one.holder]
    if not files:
        raise Kept(f"no file of values could take {path_text(wanted.path)} in")
    last, where = files[-1], path_text(wanted.path)
    if release.place.shared_with:
        names = ", ".join(release.place.shared_with)
        raise Kept(f"{last} would have to change, and that also reaches: {names}", Reason.SHARED)
    if owner is last or owner is None:
        told = f"{last} sets {where}" if owner else f"no file sets {where}; {last} would win"
        return _in(last, wanted, told)
    sharing = others(owner.file, release.chart, release.place, release.checkout)
    if not sharing:
        return _in(owner, wanted, f"{owner} sets {where}, and nothing later does")
    if wanted.op is ChangeOp.DELETE or any(isinstance(step, int) for step in wanted.path):
        raise Kept(f"{owner} sets {where}, and that also reaches: {sharing}", Reason.SHARED)
    told = f"{owner} sets {where} for {sharing} too; {last} is for this release alone"
    return _in(last, _whole(wanted, owner), told)


def _whole(wanted: Candidate, owner: Layer) -> Candidate:
    """Return a change for another file than the owner's: there a list begins with what it had."""
    held = _at(owner.values, wanted.path)
    if wanted.op is not ChangeOp.APPEND or not isinstance(held, list):
        return wanted
    return Candidate(wanted.path, ChangeOp.INSERT, [*held, wanted.value])


def _in(layer: Layer, wanted: Candidate, told: str) -> Landing:
    """Say a change in the words of one layer, which may hold the value, or nothing of it."""
    fitted = _fitted(layer, wanted)
    old, new = _at(layer.values, fitted.path), fitted.value
    if layer.parameters:
        if fitted.op is not ChangeOp.SET:
            raise Kept(f"{layer} is a list of parameters, of which one can only be set")
        old, new = _written(old), _written(new)
    document = layer.holder or ObjectRef(kind=VALUES, name=layer.file)
    before = None if fitted.op is ChangeOp.INSERT else old
    return Landing(layer.file, document, layer.field(fitted.path), fitted.op, before, new, told)


def _fitted(layer: Layer, wanted: Candidate) -> Candidate:
    """Return a change as one that a layer needs: what is empty there takes in what is new."""
    path, op, new = wanted.path, wanted.op, wanted.value
    old, there = _at(layer.values, path), _sets(layer.values, path)
    if not there and op in (ChangeOp.SET, ChangeOp.APPEND):
        return Candidate(path, ChangeOp.INSERT, new if op is ChangeOp.SET else [new])
    if op is ChangeOp.SET and type(old) is int and isinstance(new, str) and new.isdecimal():
        return replace(wanted, value=int(new))
    if op is ChangeOp.INSERT and there:
        return _into(layer, wanted, old)
    return wanted


def _into(layer: Layer, wanted: Candidate, old: Any) -> Candidate:
    """Return a new value as what an empty one that is there takes in."""
    path, op, new = wanted.path, wanted.op, wanted.value
    if isinstance(new, dict) and isinstance(old, dict) and len(new) == 1:
        ((key, value),) = new.items()
        return _fitted(layer, Candidate((*path, key), op, value))
    if isinstance(new, list) and old == [] and len(new) == 1:
        return Candidate(path, ChangeOp.APPEND, new[0])
    return wanted if isinstance(new, dict | list) else replace(wanted, op=ChangeOp.SET)


def _written(value: Any) -> str:
    """A parameter is text, whatever it means."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sets(values: Any, path: FieldPath) -> bool:
    """Whether values hold something there, or a list or a single value on the way."""
    for step in path:
        if not isinstance(values, dict):
            return values is not None
        if step not in values:
            return False
        values = values[step]
    return True


def _at(values: Any, path: FieldPath) -> Any:
    for step in path:
        if isinstance(values, list) and isinstance(step, int) and step < len(values):
            values = values[step]
        elif isinstance(values, dict):
            values = values.get(step)
        else:
            return None
    return values
