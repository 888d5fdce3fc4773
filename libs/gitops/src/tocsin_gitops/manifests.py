"""Tell which Kubernetes object each document of a file is, as the file itself says."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from tocsin_contracts import FieldPath, ObjectRef
from tocsin_gitops.splice import decode
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, documents
from tocsin_gitops.yaml_paths import find

VALUES = "Values"
"""The kind by which an edit names a file of a chart's values, which is no object."""

KUSTOMIZATION_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


@dataclass(frozen=True, slots=True)
class Document:
    """One object in a file; its namespace is empty where the file names none."""

    file: str
    index: int
    ref: ObjectRef
    node: Node


def read(file: str, data: bytes) -> tuple[Document, ...]:
    """Return the documents that are objects; EditRefused if the file is not plain YAML."""
    _, text = decode(data)
    found = ((index, root, _ref(file, root)) for index, root in enumerate(documents(text)))
    return tuple(Document(file, index, ref, root) for index, root, ref in found if ref)


def select(found: Sequence[Document], ref: ObjectRef) -> Document:
    """Return the one document that is this object; a file may leave the namespace out."""
    chosen = [document for document in found if _is(document.ref, ref)]
    if len(chosen) != 1:
        many = f"{len(chosen)} documents are" if chosen else "no document is"
        raise EditRefused(f"{many} {ref}; exactly one must be")
    return chosen[0]


def meant(file: str, data: bytes, ref: ObjectRef) -> Document:
    """Return the document of a file that an edit is about: an object, or all of its values."""
    if ref.kind != VALUES:
        return select(read(file, data), ref)
    roots = documents(decode(data)[1])
    if len(roots) != 1 or roots[0].kind is not NodeKind.MAPPING or ref.name != file:
        raise EditRefused("it is no file of just one mapping of values")
    return Document(file, 0, ref, roots[0])


def scalar(root: Node, path: FieldPath) -> str:
    """Return the text of a scalar; empty where there is none or it cannot be told."""
    try:
        node = find(root, path)
    except EditRefused:
        return ""
    return node.value if node.kind is NodeKind.SCALAR else ""


def is_kustomization(file: str) -> bool:
    """Whether kustomize takes this file for the description of its folder."""
    return posixpath.basename(file) in KUSTOMIZATION_FILES


def is_yaml(file: str) -> bool:
    """Whether the name says that a file is YAML."""
    return file.endswith((".yaml", ".yml")) or is_kustomization(file)


def is_read(file: str) -> bool:
    """Whether a file says what is deployed: YAML, or helpers of a chart."""
    return is_yaml(file) or file.endswith(".tpl")


def folder(file: str) -> str:
    """Return the folder of a file; the root of the repository is a dot."""
    return posixpath.dirname(file) or "."


def _ref(file: str, root: Node) -> ObjectRef | None:
    kind = scalar(root, ("kind",))
    if not kind and is_kustomization(file):
        kind = "Kustomization"
    name = scalar(root, ("metadata", "name"))
    if not kind or not (name or is_kustomization(file)):
        return None
    return ObjectRef(kind=kind, namespace=scalar(root, ("metadata", "namespace")), name=name)


def _is(written: ObjectRef, wanted: ObjectRef) -> bool:
    same_name = (written.kind, written.name) == (wanted.kind, wanted.name)
    return same_name and written.namespace in ("", wanted.namespace)
