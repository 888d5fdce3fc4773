"""Of a Secret only its name, its type and its keys are kept: its values never get any further."""

import re
from collections.abc import Mapping
from typing import Any

from tocsin_cluster.manifest import Manifest, dig
from tocsin_cluster.printed import Printed
from tocsin_cluster.shapes import shaped

_WRITTEN_OUT = re.compile(r"""(?m)^[ \t"'-]{0,200}kind["']?:[ \t]{0,20}["']?Secret\b""")
_KEPT = ("name", "namespace", "creationTimestamp", "uid")


_TABLES = ("", "wide", "name")


def without_values(manifest: Manifest) -> Manifest:
    """Return an object in the API's shape, and a Secret with an empty value under each key."""
    if str(manifest.raw.get("kind")) != "Secret":
        return shaped(manifest)
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


def may_show_values(printed: Printed) -> bool:
    """Whether a text may be a Secret that is written out, whole or in part."""
    command = printed.command
    asked = command.kind == "Secret" and command.verb == "get" and command.output not in _TABLES
    return asked or _WRITTEN_OUT.search(printed.text) is not None
