"""Read a file of recorded failures: one JSON object a line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tocsin_kit.errors import PermanentError


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that somebody saw: text, or data as JSON; what it is of says `kind`."""

    kind: str
    command: str = ""
    text: str | None = None
    data: Any = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """One failure. What else its line says, such as what is right, is not read."""

    id: str
    alert: Mapping[str, Any]
    manifests: Mapping[str, str]
    evidence: tuple[Item, ...]

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the alert."""
        return dict(self.alert.get("labels") or {})

    @property
    def namespace(self) -> str:
        """The namespace that the alert names; maybe empty."""
        return self.labels.get("exported_namespace") or self.labels.get("namespace", "")


def read(path: Path) -> tuple[Recorded, ...]:
    """Read every case; PermanentError names the line that is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PermanentError(f"cannot read {str(path)!r}: {error}") from error
    return tuple(
        _case(line, f"{path.name}:{number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    )


def _case(line: str, where: str) -> Recorded:
    try:
        raw = json.loads(line)
        return Recorded(
            id=str(raw["id"]),
            alert=raw["alert"],
            manifests={str(one["file"]): str(one["text"]) for one in raw.get("manifests") or ()},
            evidence=tuple(_item(one) for one in raw.get("evidence") or ()),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise PermanentError(
            f"{where} is no case with id and alert: {why}; docs/diagnosis.md says what one holds"
        ) from error


def _item(raw: Mapping[str, Any]) -> Item:
    text = raw.get("text")
    return Item(
        kind=str(raw["kind"]),
        command=_command(raw),
        text=text if isinstance(text, str) else None,
        data=raw.get("json"),
    )


def _command(raw: Mapping[str, Any]) -> str:
    if raw.get("command"):
        return str(raw["command"])
    args = raw.get("args") or ()
    if isinstance(args, Mapping):
        args = [f"{key}={value}" for key, value in args.items()]
    words = args if isinstance(args, list | tuple) else (args,)
    return " ".join(str(word) for word in (raw.get("tool") or "", *words)).strip()
