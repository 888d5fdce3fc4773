"""Whether other releases of a repository use a file of values too, as far as it tells."""

import posixpath
from collections.abc import Iterator

from tocsin_contracts import Place
from tocsin_gitops.helm.chart import Chart
from tocsin_gitops.placements import Checkout
from tocsin_gitops.yaml_nodes import NodeKind, walk

_CONTROLLERS = ("Application", "ApplicationSet", "HelmRelease")


def others(file: str, chart: Chart, place: Place, checkout: Checkout) -> str:
    """Name what else uses a file of values, in doubt too; empty if nothing does."""
    own = file == chart.path("values.yaml")
    if own and place.chart_shared_with:
        return ", ".join(place.chart_shared_with)
    if own and (beside := sorted(_beside(chart, place))):
        return f"whatever {beside[0]!r} is for"
    for name, words in _controllers(place, checkout):
        if any("{{" in word for word in words):
            return name
        told = (word.strip().removeprefix("./").strip("/") for word in words)
        if any(_names(word, chart.folder if own else file, exactly=own) for word in told):
            return name
    return ""


def _beside(chart: Chart, place: Place) -> Iterator[str]:
    """Files of values that lie in the chart for releases other than this one."""
    for file in chart.files:
        folder, name = posixpath.split(file)
        here = (folder or ".") == chart.folder and "values" in name
        if here and file not in (chart.path("values.yaml"), *place.value_files):
            yield file


def _controllers(place: Place, checkout: Checkout) -> Iterator[tuple[str, list[str]]]:
    for file, data in checkout.files.items():
        if not any(kind.encode() in data for kind in _CONTROLLERS):
            continue
        for document in checkout.documents(file):
            ref = document.ref
            mine = place.by in (f"{ref.kind} {ref.namespace}/{ref.name}", f"{ref.kind} {ref.name}")
            if ref.kind in _CONTROLLERS and not mine:
                words = [n.value for n in walk(document.node) if n.kind is NodeKind.SCALAR]
                yield f"{ref.kind} {ref.name}", words


def _names(word: str, path: str, *, exactly: bool) -> bool:
    if exactly:
        return word == path
    return bool(word) and posixpath.basename(word) == posixpath.basename(path)
