"""The values of a release: the chart's own first, what a controller's object sets last."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_contracts import FieldPath, ObjectRef, Place
from tocsin_gitops import layers as kustomize_layers
from tocsin_gitops.helm.chart import Chart
from tocsin_gitops.helm.marked import Hidden
from tocsin_gitops.helm.plain import checked, mapping
from tocsin_gitops.helm.syntax import Unreadable
from tocsin_gitops.placements import Checkout
from tocsin_gitops.yaml_nodes import EditRefused

INLINE: Mapping[str, tuple[FieldPath, ...]] = {
    "HelmRelease": (("spec", "values"),),
    "Application": (("spec", "source", "helm", "valuesObject"),),
}
"""Where a controller's object holds values that an edit can reach."""

_PARAMETERS: FieldPath = ("spec", "source", "helm", "parameters")
_VALUE = "value "
_MOST_NAMES = 100
"""More than these are not listed by a place."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of values: a file, or the part of an object that begins at `at`.

    One that is `hidden` is known to be there, and not what it holds.
    """

    values: dict[str, Any]
    file: str = ""
    holder: ObjectRef | None = None
    at: FieldPath = ()
    hidden: bool = False

    @property
    def parameters(self) -> bool:
        """Whether it is a list of single values by their dotted names."""
        return self.at[-1:] == ("parameters",)

    def field(self, path: FieldPath) -> FieldPath:
        """Return where in its document a value stands."""
        if self.parameters:
            return (*self.at, f"[name={'.'.join(map(str, path))}]", "value")
        return (*self.at, *path)

    def __str__(self) -> str:
        """Name it as people would look for it."""
        return self.file or f"the values of {self.holder}"


def of_release(chart: Chart, place: Place, checkout: Checkout) -> list[Layer]:
    """Return the layers of a release; Unreadable if one of the files is none of values."""
    own = chart.path("values.yaml")
    alone = place.by.startswith("HelmRelease") and place.value_files
    names = dict.fromkeys((*(() if alone else (own,)), *place.value_files))
    found = [_of_file(name, chart) for name in names if name != own or own in chart.files]
    return [*found, *_inline(place, checkout)]


def _of_file(name: str, chart: Chart) -> Layer:
    data = chart.files.get(name)
    if data is None:
        raise Unreadable(f"there is no {name!r}")
    try:
        return Layer(mapping(data), file=name)
    except EditRefused as refused:
        raise Unreadable(f"{name!r}: {refused}") from refused


def _inline(place: Place, checkout: Checkout) -> Iterator[Layer]:
    """What the controller's object sets; what is not in the repository is hidden."""
    said = [one.removeprefix(_VALUE) for one in place.overrides if one.startswith(_VALUE)]
    if not said:
        return
    named = ObjectRef.model_validate(_controller(place.by))
    names = [one for one in said if " of " not in one]
    held = list(_held(named, checkout)) if names else []
    lacking = [one for one in names if not any(_sets(layer, one) for layer in held)]
    yield from held
    for name in (*lacking, *(one.split(" of ")[0] for one in said if " of " in one)):
        if name == "*" or len(said) >= _MOST_NAMES:
            raise Unreadable(f"{place.by} takes values from where nobody can look here")
        yield Layer(_nested(name), holder=named, hidden=True)


def _controller(by: str) -> dict[str, str]:
    kind, _, where = by.partition(" ")
    namespace, _, name = where.rpartition("/")
    return {"kind": kind, "namespace": namespace, "name": name}


def _held(named: ObjectRef, checkout: Checkout) -> Iterator[Layer]:
    """Yield what the object's own document sets, if just that one decides it."""
    found = [
        one
        for one in checkout.placements(named.kind, named.name)
        if one.namespace in ("", named.namespace)
    ]
    if len(found) != 1:
        return
    for at in (*INLINE.get(named.kind, ()), _PARAMETERS):
        setters = list(kustomize_layers.setters(checkout, found[0], at))
        if len(setters) != 1 or setters[0].blocked:
            continue
        value = checked(setters[0].value)
        if at == _PARAMETERS:
            value = _of_parameters(value)
        if isinstance(value, dict):
            yield Layer(value, file=setters[0].file, holder=named, at=at)


def _of_parameters(listed: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for one in listed if isinstance(listed, list) else ():
        name, value = str(one.get("name", "")), one.get("value")
        if "[" in name or "\\" in name or not name:
            raise Unreadable(f"the parameter {name!r} is not followed here")
        inside = made
        *way, last = name.split(".")
        for step in way:
            inside = inside.setdefault(step, {})
        inside[last] = value if one.get("forceString") else _typed(str(value))
    return made


def _typed(text: str) -> Any:
    """Return what `--set` makes of a text."""
    words = {"true": True, "false": False, "null": None}
    return words[text] if text in words else int(text) if text.isdecimal() else text


def _sets(layer: Layer, name: str) -> bool:
    inside: Any = layer.values
    for step in name.split("."):
        if not isinstance(inside, dict) or step not in inside:
            return False
        inside = inside[step]
    return True


def _nested(name: str) -> dict[str, Any]:
    made: Any = Hidden(f"the value {name}")
    for step in reversed(name.split(".")):
        made = {step: made}
    return dict(made)
