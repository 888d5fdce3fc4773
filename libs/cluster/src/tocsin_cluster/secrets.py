"""Of a Secret only its name, its type and its keys are kept: its values never get any further."""

from collections.abc import Mapping
from typing import Any

from tocsin_cluster.manifest import Manifest, dig

_KEPT = ("name", "namespace", "creationTimestamp", "uid")


def without_values(manifest: Manifest) -> Manifest:
    """Return an object as it is, and a Secret with an empty value under each of its keys."""
    if str(manifest.raw.get("kind")) != "Secret":
        return manifest
    metadata = dig(manifest.raw, "metadata") or {}
    return Manifest(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {key: metadata[key] for key in _KEPT if key in metadata},
            "type": manifest.raw.get("type") or "",
            "data": dict.fromkeys(_keys(manifest.raw), ""),
        },
        whole=manifest.whole,
    )


def _keys(raw: Mapping[str, Any]) -> list[str]:
    sections = (raw.get(section) for section in ("data", "stringData"))
    return [str(key) for section in sections if isinstance(section, Mapping) for key in section]
