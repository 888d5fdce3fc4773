"""Read objects that were printed as JSON or YAML, whatever is around them."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tocsin_cluster.kinds import CLUSTER_WIDE
from tocsin_cluster.manifest import Manifest, dig
from tocsin_cluster.printed import Printed

_DEEPEST = 4


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
        for found in _flat(document, command.kind, _DEEPEST)
    )


def _documents(printed: Printed) -> list[Any]:
    if printed.data is not None:
        return [printed.data]
    if not _may_be_yaml(printed):
        return []
    try:
        return list(yaml.load_all(printed.text, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return []


def _may_be_yaml(printed: Printed) -> bool:
    head = printed.text.lstrip()[:200]
    return head.startswith(("apiVersion:", "kind:", "---", "- apiVersion", "metadata:", "items:"))


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
