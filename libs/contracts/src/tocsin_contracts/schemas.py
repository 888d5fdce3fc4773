"""The JSON schema of every event as a committed file, so that a change of contract is a diff.

`python -m tocsin_contracts.schemas` writes the files, with `--check` it only compares. A change
that would break a reader is never written: it needs a new class with the next version.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tocsin_contracts import EVENTS, Event
from tocsin_contracts.schema_changes import breaking_changes

FOLDER = Path(__file__).parents[2] / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(event_type: type[Event]) -> dict[str, Any]:
    """Return the schema of what a reader of the event accepts."""
    return {"$schema": DIALECT, "$id": event_type.topic, **event_type.model_json_schema()}


def documents() -> dict[str, str]:
    """Return the text of each file by its name; the same classes give the same bytes."""
    return {
        f"{event.topic}.json": json.dumps(schema(event), indent=2, sort_keys=True) + "\n"
        for event in EVENTS
    }


def differences(folder: Path) -> list[str]:
    """Return a line for each file that is missing, left over or not what the classes say."""
    wanted, found = documents(), _read(folder)
    stale = (name for name in wanted.keys() & found.keys() if wanted[name] != found[name])
    return sorted(
        [
            *(f"{name} is missing" for name in wanted.keys() - found.keys()),
            *(f"{name} belongs to no event" for name in found.keys() - wanted.keys()),
            *(f"{name} is out of date" for name in stale),
        ]
    )


def broken(folder: Path) -> list[str]:
    """Return a line for each change against the files that a reader could not live with."""
    found = _read(folder)
    return [
        f"{name}: {change}; make it a new class with the next version"
        for name, text in documents().items()
        if name in found
        for change in breaking_changes(json.loads(found[name]), json.loads(text))
    ]


def write(folder: Path) -> None:
    """Write every file, and remove those that belong to no event."""
    folder.mkdir(exist_ok=True)
    wanted = documents()
    for name in _read(folder).keys() - wanted.keys():
        (folder / name).unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def main(arguments: Sequence[str], folder: Path = FOLDER) -> int:
    """Write or check the files; 1 means that something has to be done first."""
    faults = broken(folder)
    if not faults and "--check" in arguments:
        remedy = "run `python -m tocsin_contracts.schemas`"
        faults = [f"{line}: {remedy}" for line in differences(folder)]
    elif not faults:
        write(folder)
    sys.stderr.writelines(f"{line}\n" for line in faults)
    return 1 if faults else 0


def _read(folder: Path) -> Mapping[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
