"""Read what `kubectl top` prints."""

import re
from collections.abc import Iterator

from tocsin_cluster.port import Usage
from tocsin_cluster.printed import Command
from tocsin_cluster.reading.numbers import whole
from tocsin_cluster.reading.tables import Row, rows
from tocsin_contracts import ObjectRef

_CPU, _MEMORY = ("CPU(cores)", "CPU"), ("MEMORY(bytes)", "MEMORY")
_CPU_SHARE, _MEMORY_SHARE = ("CPU%", "CPU(%)"), ("MEMORY%", "MEMORY(%)")
_QUANTITY = re.compile(r"(?P<number>\d{1,18}(?:\.\d{1,9})?)(?P<unit>[a-zA-Z]*)")
_UNITS = {"": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9}
_UNITS |= {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}


def usage(text: str, command: Command, namespace: str) -> Iterator[Usage]:
    """Yield a measurement for each row that has one."""
    for row in rows(text):
        if _cell(row, *_CPU, *_MEMORY) is not None:
            yield _read(row, command, row.get("NAMESPACE", namespace))


def _read(row: Row, command: Command, namespace: str) -> Usage:
    shares = [_share(_cell(row, *names)) for names in (_CPU_SHARE, _MEMORY_SHARE)]
    of_node = command.kind == "Node" or any(share is not None for share in shares)
    name = row.get("POD") or row.get("NAME", "")
    about = (
        ObjectRef(kind="Node", name=name)
        if of_node
        else ObjectRef(kind="Pod", namespace=namespace, name=name)
    )
    return Usage(
        about=about,
        container=row.get("NAME", "") if row.get("POD") else "",
        cpu=_amount(_cell(row, *_CPU)),
        memory=_amount(_cell(row, *_MEMORY)),
        cpu_share=shares[0],
        memory_share=shares[1],
    )


def _cell(row: Row, *headers: str) -> str | None:
    return next((row[header] for header in headers if header in row), None)


def _amount(cell: str | None) -> float | None:
    found = _QUANTITY.fullmatch(cell.strip()) if cell else None
    if found is None or found["unit"] not in _UNITS:
        return None
    return float(found["number"]) * _UNITS[found["unit"]]


def _share(cell: str | None) -> float | None:
    number = whole(cell.strip().removesuffix("%")) if cell else None
    return None if number is None else number / 100
