"""Read objects that were printed as JSON or YAML, whatever is around them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tocsin_cluster.kinds import CLUSTER_WIDE
from tocsin_cluster.manifest import Manifest, dig
from tocsin_cluster.printed import Command, Printed
from tocsin_cluster.sanity import is_sane

_DEEPEST = 4
_MENDS = 3
_NEAR = 600
_HEAD = re.compile(r"^(?:- )?(?:apiVersion|kind|items|metadata|spec|status|data):", re.MULTILINE)
_PARTS = ("spec", "status", "data", "rules", "subsets")


def objects(printed: Printed, namespace: str) -> tuple[Manifest, ...]:
    """Return the objects of a text; none if it is something else. Nothing is raised.

    An object without a kind is of the kind that was asked for, one without a namespace of the
    namespace that was asked in.
    """
    command = printed.command
    where = command.namespace or namespace
    return tuple(
        _placed(found, where)
        for document in _documents(printed)
        for found in _flat(_called(document, command), command.kind, _DEEPEST)
    )


def _called(document: Any, command: Command) -> Any:
    """A part of an object without a name is of the one that was asked for."""
    if not isinstance(document, Mapping) or len(command.names) != 1 or command.verb != "get":
        return document
    is_part = any(key in _PARTS for key in document) and "items" not in document
    known = document.get("metadata")
    named = isinstance(known, Mapping) and known.get("name")
    if not is_part or named:
        return document
    return {**document, "metadata": {**(known or {}), "name": command.names[0]}}


def _documents(printed: Printed) -> list[Any]:
    if printed.data is not None:
        found = [printed.data]
    else:
        found = _read(printed.text, _MENDS) if _HEAD.search(printed.text[:_NEAR]) else []
    return [document for document in found if is_sane(document)]


def _read(text: str, mends: int) -> list[Any]:
    """Read YAML; text that was cut short is read up to where it makes no sense any more."""
    try:
        return list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    except yaml.MarkedYAMLError as error:
        lines = text.splitlines(keepends=True)
        sound = min(error.problem_mark.line if error.problem_mark else 0, len(lines) - 1)
        return _read("".join(lines[:sound]), mends - 1) if mends and sound > 0 else []
    except (yaml.YAMLError, ValueError, RecursionError):
        return []


def _flat(document: Any, kind: str, depth: int) -> Iterator[dict[str, Any]]:
    if isinstance(document, list):
        for item in document if depth else ():
            yield from _flat(item, kind, depth - 1)
    elif isinstance(document, Mapping):
        items, own = document.get("items"), str(document.get("kind") or "")
        if isinstance(items, list) and (not own or own.endswith("List")):
            yield from _flat(items, own.removesuffix("List") or kind, depth - 1)
        else:
            yield from _object(document, own or kind)


def _object(document: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    if isinstance(document.get("involvedObject") or document.get("regarding"), Mapping):
        yield {**document, "kind": "Event"}
    elif kind and isinstance(dig(document, "metadata", "name"), str):
        yield {**document, "kind": kind}


def _placed(raw: dict[str, Any], namespace: str) -> Manifest:
    manifest = Manifest(raw)
    if manifest.ref.namespace or manifest.ref.kind in CLUSTER_WIDE:
        return manifest
    metadata = raw.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    return Manifest({**raw, "metadata": {**known, "namespace": namespace}})
