"""What Helm makes of a chart before and after: in a throw-away folder, with no way out of it."""

import asyncio
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from tocsin_contracts import FailureCode, Place
from tocsin_gitops.editing import EditRefused
from tocsin_gitops.helm import layers
from tocsin_gitops.helm.chart import Chart
from tocsin_gitops.helm.layers import Layer
from tocsin_gitops.manifests import is_yaml
from tocsin_gitops.placements import Checkout
from tocsin_gitops.placing import below
from tocsin_validation.facts import Rendered
from tocsin_validation.surroundings import rendering
from tocsin_validation.surroundings.asked import NotTold
from tocsin_validation.surroundings.rendering import MOST_FILES, printed, write

Files = Mapping[str, bytes]
_FAILED = FailureCode.RENDER_FAILED
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")


def found(name: str = "helm") -> str:
    """Return where that binary is, on the path or beside this Python; empty for nowhere."""
    return rendering.found(name)


async def render(helm: str, place: Place, namespace: str, files: Files, after: Files) -> Rendered:
    """Render a release before and after; NotTold if the first, or what it takes, is not known.

    Nothing is fetched: a chart that depends on others has to have them beside it.
    """
    if not any(map(is_yaml, after)):
        return Rendered()
    if not place.path:
        raise NotTold(f"the chart of {place.by} is not in the repository", FailureCode.UNSUPPORTED)
    if not helm:
        why = "there is no helm to render the chart with: TOCSIN_HELM_BINARY may name one"
        raise NotTold(why, FailureCode.MISSING_TOOL)
    before = await _rendered(helm, place, namespace, files)
    if before != await _rendered(helm, place, namespace, files):
        raise NotTold("the chart makes something else each time", FailureCode.UNSUPPORTED)
    try:
        changed = await _rendered(helm, place, namespace, {**files, **after})
    except NotTold as failed:
        return Rendered(before={place.path: before}, fault=str(failed))
    return Rendered(before={place.path: before}, after={place.path: changed})


async def _rendered(helm: str, place: Place, namespace: str, files: Files) -> str:
    used = await asyncio.to_thread(_layers, place, files)
    _refuse_flags(place, namespace)
    needed = {path: data for path, data in files.items() if _is_of(path, place)}
    if len(needed) > MOST_FILES:
        raise NotTold(f"{len(needed)} files would have to be written", _FAILED)
    own = Chart(place.path, files).path("values.yaml")
    if own not in [layer.file for layer in used]:
        needed[own] = b"{}\n"
    with tempfile.TemporaryDirectory(prefix="tocsin-chart-") as folder:
        root = Path(folder, "repository")
        await asyncio.to_thread(write, root, needed)
        given = [
            word for name in _given(used, own, root) for word in ("--values", str(root / name))
        ]
        named = (f"--namespace={namespace}",) if namespace else ()
        command = (helm, "template", place.release, str(root / place.path), *given, *named)
        return await printed(command, root, place.path)


def _refuse_flags(place: Place, namespace: str) -> None:
    """What a cluster or repository calls things must mean nothing else on a command line."""
    named = all(map(_NAME.fullmatch, (place.release, namespace or "x")))
    if not named or any("," in path for path in place.value_files):
        raise NotTold(f"what {place.by} names cannot be handed to helm", FailureCode.UNSUPPORTED)


def _is_of(path: str, place: Place) -> bool:
    way = PurePosixPath(path)
    inside = not way.is_absolute() and ".." not in way.parts
    return inside and (below(path, place.path) or path in place.value_files)


def _layers(place: Place, files: Files) -> list[Layer]:
    try:
        found_ = layers.of_release(Chart(place.path, files), place, Checkout(files))
    except EditRefused as refused:
        raise NotTold(f"its values are not known: {refused}", FailureCode.UNSUPPORTED) from refused
    if any(layer.hidden for layer in found_):
        sentence = f"{place.by} sets values that are not in the repository"
        raise NotTold(sentence, FailureCode.UNSUPPORTED)
    return found_


def _given(used: Sequence[Layer], own: str, root: Path) -> Iterator[str]:
    """Yield the files of values in their order; what an object sets is written into one."""
    for number, layer in enumerate(used):
        if layer.holder:
            name = f"{root.name}-values-{number}.json"
            (root / name).write_text(json.dumps(layer.values), encoding="utf-8")
            yield name
        elif layer.file != own:
            yield layer.file
