"""The functions of templates about mappings, lists and numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from tocsin_gitops.helm.marked import Hidden, Ledger, Val, bare, said
from tocsin_gitops.helm.plain import checked
from tocsin_gitops.helm.syntax import Unreadable

Function = Callable[[Ledger, Sequence[Val]], Val]


def _dict(_: Ledger, args: Sequence[Val]) -> Val:
    pairs = zip(args[::2], args[1::2], strict=True)
    return Val({str(key.data): value for key, value in pairs})


def _only(keeps: bool) -> Function:
    def function(_: Ledger, args: Sequence[Val]) -> Val:
        source, names = args[0], {one.data for one in args[1:]}
        kept = {str(k): v for k, v in source.children() if (k in names) is keeps}
        return Val(kept)

    return function


def _reached(_: Ledger, args: Sequence[Val]) -> Val:
    value = args[0]
    for one in args[1:]:
        value = value.child(one.data)
    return value


def _dig(_: Ledger, args: Sequence[Val]) -> Val:
    *names, fallback, value = args
    for name in names:
        value = value.child(name.data) if isinstance(value.data, Mapping) else Val(None)
    return value if value.data is not None else Val(fallback.data, value.origin)


def _has_key(_: Ledger, args: Sequence[Val]) -> Val:
    return Val(args[1].data in args[0].data)


def _coalesce(_: Ledger, args: Sequence[Val]) -> Val:
    return next((one for one in args if one.holds), Val(None))


def _join(_: Ledger, args: Sequence[Val]) -> Val:
    between, items = args
    return Val(between.data.join(said(one) for _, one in items.children()))


def _concat(_: Ledger, args: Sequence[Val]) -> Val:
    return Val([one for value in args for one in _items(value)])


def _has(_: Ledger, args: Sequence[Val]) -> Val:
    wanted, items = args
    found = [one.data for one in _items(items)]
    if any(isinstance(one, Hidden) for one in found):
        raise Unreadable("a list holds what nobody can tell here")
    return Val(any(type(one) is type(wanted.data) and one == wanted.data for one in found))


def _items(value: Val) -> Iterator[Val]:
    if value.data is not None:
        yield from (one for _, one in value.children())


def _read(ledger: Ledger, args: Sequence[Val]) -> Val:
    """What a text of YAML says; where each part of it came from is not known any more."""
    try:
        found = yaml.load(str(args[0].data), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable("a text of the template is no YAML") from error
    return Val(checked(found))


def _counted(made: Callable[[int, int], int]) -> Function:
    def function(_: Ledger, args: Sequence[Val]) -> Val:
        first, *rest = (int(float(said(one) or "0")) for one in args)
        for one in rest:
            first = made(first, one)
        return Val(first)

    return function


def _list(_: Ledger, args: Sequence[Val]) -> Val:
    return Val(list(args))


def _length(_: Ledger, args: Sequence[Val]) -> Val:
    found: Any = bare(args[0])
    return Val(len(found))


LISTS: Mapping[str, Function] = {
    "dict": _dict,
    "omit": _only(False),
    "pick": _only(True),
    "index": _reached,
    "get": _reached,
    "dig": _dig,
    "hasKey": _has_key,
    "list": _list,
    "tuple": _list,
    "len": _length,
    "coalesce": _coalesce,
    "join": _join,
    "concat": _concat,
    "has": _has,
    "first": lambda _, args: args[0].child(0),
    "fromYaml": _read,
    "fromYamlArray": _read,
    "add": _counted(lambda one, other: one + other),
    "sub": _counted(lambda one, other: one - other),
    "mul": _counted(lambda one, other: one * other),
    "max": _counted(max),
    "min": _counted(min),
}
