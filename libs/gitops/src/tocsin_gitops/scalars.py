"""What a scalar means to YAML readers, and how to write a value so that all of them agree."""

import json
import re

import yaml

from tocsin_contracts import Scalar
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind

_TAG = "tag:yaml.org,2002:"
_TYPED = ("null", "bool", "int", "float")
_IMPLICIT = yaml.SafeLoader.yaml_implicit_resolvers
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@%+=: -]*")
_READ_AS_ANOTHER_TYPE = re.compile(
    r"y|n|yes|no|on|off|true|false|null|~|[-+]?\.inf|\.nan"
    r"|[-+]?(0o[0-7]+|0x[0-9a-f_]+|0b[01_]+|(\.\d+|\d[\d_]*(\.[\d_]*)?)(e[-+]?\d+)?)",
    re.IGNORECASE,
)


def meaning(node: Node) -> Scalar:
    """Return what a scalar says: plain 8080 is a number, "8080" is text, a date is text."""
    if node.kind is not NodeKind.SCALAR:
        raise EditRefused(f"a {node.kind.value} is not a value that can be replaced")
    if node.tag is not None:
        raise EditRefused(f"the value carries the tag {node.tag}, which decides how it is read")
    return node.value if node.style else plain_meaning(node.value)


def plain_meaning(text: str) -> Scalar:
    """Return what YAML 1.1, which Kubernetes speaks, reads in this text without quotes."""
    tag = _implicit_tag(text)
    if tag.removeprefix(_TAG) not in _TYPED:
        return text
    try:
        node = yaml.ScalarNode(tag, text)
        value: Scalar = yaml.constructor.SafeConstructor().construct_document(node)
    except ValueError:
        return text
    return value


def same(one: Scalar, other: Scalar) -> bool:
    """Whether two values are equal in meaning and type; 1 and 1.0 are, 1 and true are not."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (one, other))
    return one == other and (numbers or type(one) is type(other))


def write(value: Scalar, style: str | None) -> str:
    """Return the token for a value on one line; text keeps the quotes it had."""
    if isinstance(value, str):
        return _text(value, style)
    token = json.dumps(value)
    if not same(plain_meaning(token), value):
        raise EditRefused(f"{value!r} cannot be written so that every YAML reader agrees")
    return token


def _text(value: str, style: str | None) -> str:
    if not value.isprintable():
        raise EditRefused(f"{value!r} holds a line break or another character that cannot be seen")
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    if style == '"' or not _stays_text(value):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return value


def _stays_text(value: str) -> bool:
    if not _PLAIN.fullmatch(value) or ": " in value or value.endswith((" ", ":")):
        return False
    return not _implicit_tag(value) and not _READ_AS_ANOTHER_TYPE.fullmatch(value)


def _implicit_tag(text: str) -> str:
    return next((tag for tag, form in _IMPLICIT.get(text[:1], ()) if form.match(text)), "")
