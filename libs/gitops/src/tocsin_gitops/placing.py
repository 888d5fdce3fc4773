"""What a repository deploys from one place of it: only that is looked through for an object."""

import fnmatch
import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache

from tocsin_contracts import Place, SourceKind
from tocsin_gitops.placements import Checkout, Placement
from tocsin_gitops.yaml_nodes import EditRefused

ROOT = "."
MOST_ALTERNATIVES = 100
"""Braces beside braces double them each time."""

_BRACES = re.compile(r"\{([^{}]*)\}")


def placed(checkout: Checkout, place: Place, kind: str, name: str) -> tuple[Placement, ...]:
    """Return every way in which the place deploys an object of that kind and final name.

    A place that does not say what it is holds whatever lies in its folder, or goes through it.
    EditRefused where the ways, or the globs of the place, are too many to be followed.
    """
    if place.kind is SourceKind.KUSTOMIZE:
        found = checkout.built(place.path, kind, name)
    elif place.kind is SourceKind.DIRECTORY:
        found = tuple(_in_directory(checkout, place, kind, name))
    else:
        found = tuple(p for p in checkout.placements(kind, name) if _touches(p, place.path))
    return tuple(one for one in found if one.name == name)


def below(path: str, folder: str) -> bool:
    """Whether a path is a folder, or lies in it; everything lies in the root."""
    return folder in ("", ROOT, path) or path.startswith(f"{folder}/")


def _in_directory(checkout: Checkout, place: Place, kind: str, name: str) -> Iterator[Placement]:
    """Plain files, and folders with a kustomization for what that makes of them."""
    layers = [one for one in checkout.kustomizations if below(one, place.path)]
    outer = [one for one in layers if not any(_within(one, other) for other in layers)]
    if place.recurse:
        for folder in outer:
            yield from checkout.built(folder, kind, name)
    for file, data in checkout.files.items():
        if (
            name.encode() in data
            and _is_of(file, place)
            and not any(below(file, folder) for folder in outer)
        ):
            yield from checkout.written(file, kind)


def _is_of(file: str, place: Place) -> bool:
    """Whether a directory has a file; its globs are about the way from the directory to it."""
    if not below(file, place.path):
        return False
    way = posixpath.relpath(file, place.path or ROOT)
    if not place.recurse and "/" in way:
        return False
    left_out = bool(place.exclude) and _fits(way, place.exclude)
    return not left_out and (not place.include or _fits(way, place.include))


def _fits(way: str, glob: str) -> bool:
    """Match as Argo CD does: a star passes slashes, and braces hold alternatives."""
    return any(fnmatch.fnmatchcase(way, one) for one in _alternatives(glob))


@lru_cache(maxsize=64)
def _alternatives(glob: str) -> tuple[str, ...]:
    done, waiting = list[str](), [glob]
    while waiting:
        one = waiting.pop()
        found = _BRACES.search(one)
        words = found[1].split(",") if found else []
        if len(done) + len(waiting) + len(words) > MOST_ALTERNATIVES:
            raise EditRefused(f"a glob has more than {MOST_ALTERNATIVES} alternatives")
        if found:
            waiting += [f"{one[: found.start()]}{word}{one[found.end() :]}" for word in words]
        else:
            done.append(one)
    return tuple(done)


def _touches(placement: Placement, path: str) -> bool:
    folders = (layer.folder for layer in placement.layers)
    return any(below(one, path) for one in (placement.document.file, *folders))


def _within(folder: str, other: str) -> bool:
    return folder != other and below(folder, other)


def is_same(one: Placement, other: Placement) -> bool:
    """Whether two ways are the same one: a document through the same kustomizations."""
    through = [[layer.folder for layer in way.layers] for way in (one, other)]
    return one.document is other.document and through[0] == through[1]
