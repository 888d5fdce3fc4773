"""Write a value the way `toYaml` does, with a mark for everything that a value of the chart set."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tocsin_gitops import yaml_write
from tocsin_gitops.helm.marked import Hidden, Ledger, Val


def to_yaml(ledger: Ledger, value: Val) -> str:
    """Return the lines of a value, without a line end after the last."""
    return "\n".join(_lines(ledger, value))


def _lines(ledger: Ledger, value: Val) -> Iterator[str]:
    data = value.data
    if isinstance(data, Mapping) and data:
        for key, child in value.children():
            yield from _entry(ledger, str(key), child)
        if value.origin is not None:
            yield f'"{ledger.end_of(value)}": 0'
    elif isinstance(data, list) and data:
        for _, child in value.children():
            first, *rest = _lines(ledger, child)
            yield f"- {first}"
            yield from (f"  {one}" for one in rest)
        if value.origin is not None:
            yield f'- "{ledger.end_of(value)}"'
    else:
        yield _scalar(ledger, value)


def _entry(ledger: Ledger, key: str, child: Val) -> Iterator[str]:
    lines = list(_lines(ledger, child))
    if not isinstance(child.data, Mapping | list) or not child.data:
        yield f"{yaml_write.word(key)}: {lines[0]}"
        return
    yield f"{yaml_write.word(key)}:"
    indent = "" if isinstance(child.data, list) else "  "
    yield from (indent + one for one in lines)


def _scalar(ledger: Ledger, value: Val) -> str:
    if isinstance(value.data, Mapping | list):
        empty = "{}" if isinstance(value.data, Mapping) else "[]"
        return ledger.tree(value) if value.origin is not None else empty
    if value.data is None and value.origin is None:
        return "null"
    quoted = isinstance(value.data, str | Hidden)
    return ledger.put(replace(value, quotes='"' if quoted else ""))
