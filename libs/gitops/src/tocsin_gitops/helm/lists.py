"""The functions of templates about lists and numbers; what comes out has no one origin."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from tocsin_gitops.helm.marked import Hidden, Ledger, Val, bare, said
from tocsin_gitops.helm.plain import checked
from tocsin_gitops.helm.syntax import Unreadable

Function = Callable[[Ledger, Sequence[Val]], Val]


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
