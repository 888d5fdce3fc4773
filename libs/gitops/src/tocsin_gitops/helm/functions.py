"""The functions of templates that are understood here; what any other makes is hidden."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tocsin_gitops.helm.lists import LISTS, Function
from tocsin_gitops.helm.marked import Hidden, Ledger, Val, said
from tocsin_gitops.helm.syntax import Unreadable
from tocsin_gitops.helm.toyaml import to_yaml

_WIDEST = 200
_MISUSED = (IndexError, TypeError, ValueError, AttributeError, KeyError, OverflowError)
_OTHER_FORMS = re.compile(r"%(?![sdv%])")


def call(name: str, ledger: Ledger, args: Sequence[Val]) -> Val:
    """Return what a function makes of its arguments."""
    if name in _SIDE_EFFECTS:
        raise Unreadable(f"{name!r} is not followed here")
    plain = args if name in _ON_TEXT else [ledger.opened(one) for one in args]
    function = _ALL.get(name)
    hidden = any(isinstance(one.data, Hidden) for one in plain)
    if function is None or (hidden and name not in _ON_TEXT and name not in _ON_HIDDEN):
        told = ", ".join(_told(ledger, one) for one in plain)
        return Val(Hidden(f"{name} of {told}" if told else name))
    try:
        return function(ledger, plain)
    except _MISUSED as error:
        raise Unreadable(f"{name!r} is not given what it takes") from error


def same(one: Any, other: Any) -> bool:
    """Whether a template takes two values for equal."""
    if isinstance(one, Hidden) or isinstance(other, Hidden):
        raise Unreadable(f"it compares {one} with {other}")
    return type(one) is type(other) and bool(one == other)


def _told(ledger: Ledger, value: Val) -> str:
    if isinstance(value.data, Mapping | list):
        return ledger.plain(to_yaml(ledger, value))
    return ledger.plain(said(value)) if isinstance(value.data, str) else str(value.data)


def _text(ledger: Ledger, value: Val) -> str:
    if isinstance(value.data, Mapping | list):
        raise Unreadable("a template writes a whole mapping or list as text")
    return ledger.plain(said(value))


def _of_text(made: Callable[..., Any]) -> Function:
    """A function whose last argument is a text; the ones before are as they are."""

    def function(ledger: Ledger, args: Sequence[Val]) -> Val:
        return Val(made(_text(ledger, args[-1]), *(one.data for one in args[:-1])))

    return function


def _number(ledger: Ledger, args: Sequence[Val]) -> Val:
    (value,) = args
    text = said(replace(value, quotes="")) or "0"
    return Val(int(float(text)), value.origin)


def _default(ledger: Ledger, args: Sequence[Val]) -> Val:
    fallback, value = args if len(args) > 1 else (args[0], Val(None))
    known = ledger.opened(value)
    if known.holds:
        return value
    return replace(fallback, origin=known.origin or fallback.origin)


def _quoted(quotes: str) -> Function:
    def function(ledger: Ledger, args: Sequence[Val]) -> Val:
        (value,) = args
        if value.data is None:
            return Val("")
        if ledger.is_marked(value) or isinstance(value.data, Hidden):
            return replace(value, quotes=quotes)
        return Val(said(replace(value, quotes="")), value.origin, quotes)

    return function


def _string(_: Ledger, args: Sequence[Val]) -> Val:
    return Val(said(args[0]), args[0].origin)


def _indented(first: str) -> Function:
    def function(ledger: Ledger, args: Sequence[Val]) -> Val:
        width, value = args
        if width.data > _WIDEST:
            raise Unreadable("a template indents further than anybody reads")
        lines = isinstance(value.data, str) and (value.origin is None or "\n" in value.data)
        text = str(value.data) if lines else ledger.put(value)
        return Val(first + "\n".join(" " * width.data + one for one in text.split("\n")))

    return function


def _stripped(ledger: Ledger, args: Sequence[Val]) -> Val:
    (value,) = args
    return replace(value, data=said(replace(value, quotes="")).strip())


def _print(ledger: Ledger, args: Sequence[Val]) -> Val:
    return Val("".join(_text(ledger, one) for one in args))


def _printf(ledger: Ledger, args: Sequence[Val]) -> Val:
    form, *rest = args
    if _OTHER_FORMS.search(form.data):
        raise Unreadable(f"the form {form.data!r} is not followed here")
    texts = map(ledger.put, rest)
    made = form.data.replace("%d", "%s").replace("%v", "%s") % tuple(texts)
    return Val(made)


def _ternary(_: Ledger, args: Sequence[Val]) -> Val:
    return args[0] if args[2].holds else args[1]


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _required(_: Ledger, args: Sequence[Val]) -> Val:
    if args[1].data in (None, ""):
        raise Unreadable("a value that the chart requires is not set")
    return args[1]


def _json(ledger: Ledger, args: Sequence[Val]) -> Val:
    (value,) = args
    if isinstance(value.data, Mapping | list):
        return Val(ledger.tree(value))
    if value.data is None or isinstance(value.data, bool | int):
        return Val(json.dumps(value.data)) if value.origin is None else value
    return replace(value, quotes='"')


def _templated(ledger: Ledger, args: Sequence[Val]) -> Val:
    """Text with nothing to fill in stays what it is; what is filled in is not followed."""
    text = _text(ledger, args[0])
    return Val(Hidden(f"tpl of {text}") if "{{" in text else text)


def _compared(made: Callable[[Any, Any], bool]) -> Function:
    return lambda _, args: Val(made(args[0].data, args[1].data))


_ON_TEXT = ("indent", "nindent", "trim", "quote", "squote", "default")
_SIDE_EFFECTS = (
    "set",
    "unset",
    "merge",
    "mergeOverwrite",
    "mustMerge",
    "fail",
    "break",
    "continue",
)
_ON_HIDDEN = ("quote", "squote", "toYaml", "dict", "default")
_ALL: Mapping[str, Function] = {
    **LISTS,
    "int": _number,
    "int64": _number,
    "default": _default,
    "quote": _quoted('"'),
    "squote": _quoted("'"),
    "toString": _string,
    "indent": _indented(""),
    "nindent": _indented("\n"),
    "trim": _stripped,
    "print": _print,
    "printf": _printf,
    "ternary": _ternary,
    "required": _required,
    "toYaml": lambda ledger, args: Val(to_yaml(ledger, args[0])),
    "toJson": _json,
    "not": lambda _, args: Val(not args[0].holds),
    "empty": lambda _, args: Val(not args[0].holds),
    "eq": lambda _, args: Val(any(same(args[0].data, one.data) for one in args[1:])),
    "ne": lambda _, args: Val(not same(args[0].data, args[1].data)),
    "gt": _compared(lambda one, other: one > other),
    "ge": _compared(lambda one, other: one >= other),
    "lt": _compared(lambda one, other: one < other),
    "le": _compared(lambda one, other: one <= other),
    "kindIs": lambda _, args: Val(_kind(args[1].data) == args[0].data),
    "tpl": _templated,
    "trunc": _of_text(lambda text, length: text[:length] if length >= 0 else text[length:]),
    "trimSuffix": _of_text(lambda text, suffix: text.removesuffix(suffix)),
    "trimPrefix": _of_text(lambda text, prefix: text.removeprefix(prefix)),
    "trimAll": _of_text(lambda text, signs: text.strip(signs)),
    "replace": _of_text(lambda text, old, new: text.replace(old, new)),
    "contains": _of_text(lambda text, part: part in text),
    "hasPrefix": _of_text(lambda text, prefix: text.startswith(prefix)),
    "hasSuffix": _of_text(lambda text, suffix: text.endswith(suffix)),
    "lower": _of_text(lambda text: text.lower()),
    "upper": _of_text(lambda text: text.upper()),
    "b64enc": _of_text(lambda text: base64.b64encode(text.encode()).decode()),
    "sha256sum": _of_text(_hashed),
}


def _kind(data: Any) -> str:
    kinds = {str: "string", bool: "bool", list: "slice", dict: "map", type(None): "invalid"}
    return kinds.get(type(data), "float64")
