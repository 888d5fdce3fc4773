"""The objects that templates make, with the value behind each field that has just one."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tocsin_contracts import FieldPath, ObjectRef
from tocsin_gitops import trees
from tocsin_gitops.helm.marked import Hidden, Ledger, Val, said
from tocsin_gitops.helm.syntax import Unreadable
from tocsin_gitops.manifests import scalar
from tocsin_gitops.scalars import plain_meaning
from tocsin_gitops.yaml_nodes import Node, NodeKind, documents, walk


@dataclass(frozen=True, slots=True)
class Made:
    """One object that a template makes.

    `parts` are the pieces of texts that hold values, `origins` the values behind whole collections.
    """

    template: str
    ref: ObjectRef
    node: Node
    parts: dict[Node, list[str | Val]]
    origins: dict[Node, list[FieldPath]]

    def hidden(self, node: Node) -> str:
        """Say what nobody can tell in a value; empty if all of it is known."""
        values = (p for one in walk(node) for p in self.parts.get(one, ()))
        found = (p.data for p in values if isinstance(p, Val) and isinstance(p.data, Hidden))
        return next(map(str, found), "")

    @property
    def tree(self) -> Any:
        """The object as plain values."""
        return trees.read(self.node)


def objects(template: str, text: str, ledger: Ledger) -> Iterator[Made]:
    """Yield the objects of the text that a template makes; EditRefused if it is no YAML."""
    for root in documents(text):
        reading = _Reading(ledger)
        node = reading.node(root)
        kind, name = scalar(node, ("kind",)), scalar(node, ("metadata", "name"))
        if node.kind is NodeKind.SCALAR and not node.value:
            continue
        if not kind or not name or "<" in name:
            raise Unreadable(f"it makes something without a name that can be told: {name or kind}")
        where = scalar(node, ("metadata", "namespace"))
        ref = ObjectRef(kind=kind, namespace=where, name=name)
        yield Made(template, ref, node, reading.parts, reading.origins)


@dataclass(slots=True)
class _Reading:
    """Puts the values in the places of their marks."""

    ledger: Ledger
    parts: dict[Node, list[str | Val]] = field(default_factory=dict)
    origins: dict[Node, list[FieldPath]] = field(default_factory=dict)

    def node(self, node: Node) -> Node:
        """Return a node as it is without marks."""
        if node.kind is NodeKind.SCALAR:
            return self._scalar(node)
        if node.kind is NodeKind.ALIAS:
            raise Unreadable("the template makes YAML with an alias")
        step = 2 if node.kind is NodeKind.MAPPING else 1
        found, kept = list[FieldPath](), list[Node]()
        for at in range(0, len(node.children), step):
            mark = self.ledger.marked(node.children[at].value)
            if mark is None:
                kept += map(self.node, node.children[at : at + step])
            elif mark.origin is not None:
                found.append(mark.origin)
        made = replace(node, children=tuple(kept))
        self.origins[made] = found
        return made

    def _scalar(self, node: Node) -> Node:
        parts = self.ledger.parts(self.ledger.unmarked(node.value))
        held = parts[0] if len(parts) == 1 else ""
        if isinstance(held, Val) and isinstance(held.data, dict | list):
            return self._tree(node, held)
        made = replace(node, value=self.ledger.plain(node.value))
        self.parts[made] = parts
        return made

    def _tree(self, node: Node, value: Val) -> Node:
        """A collection that one mark stands for."""
        children = list[Node]()
        for key, child in value.children():
            if isinstance(value.data, dict):
                children.append(Node(NodeKind.SCALAR, node.start, node.end, str(key), '"'))
            children.append(self._below(node, child))
        kind = NodeKind.MAPPING if isinstance(value.data, dict) else NodeKind.SEQUENCE
        made = Node(kind, node.start, node.end, "", "flow", children=tuple(children))
        self.origins[made] = [value.origin] if value.origin is not None else []
        return made

    def _below(self, node: Node, value: Val) -> Node:
        if isinstance(value.data, dict | list):
            return self._tree(node, value)
        text = said(replace(value, quotes="")) if value.data is not None else "null"
        style = '"' if isinstance(value.data, str) else None
        if style is None and plain_meaning(text) != value.data:
            raise Unreadable(f"{text!r} is written in another way than it is read")
        made = Node(NodeKind.SCALAR, node.start, node.end, text, style)
        self.parts[made] = [value]
        return made
