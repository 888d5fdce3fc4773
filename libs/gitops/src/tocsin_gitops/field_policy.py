"""Judge single edits: may this field of this kind be changed this way, to this value?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tocsin_contracts import Edit, EditOp, FieldPath, ObjectRef, Tree
from tocsin_gitops import chart_values, field_rules, manifests, trees, undoing
from tocsin_gitops.bounds import Limits
from tocsin_gitops.field_rules import FieldRule
from tocsin_gitops.manifests import is_kustomization
from tocsin_gitops.undoing import Step
from tocsin_gitops.violations import Rule, Violation
from tocsin_gitops.yaml_nodes import EditRefused
from tocsin_gitops.yaml_paths import find, path_text

NEVER_KINDS = (
    *("Secret", "SealedSecret", "*ExternalSecret", "SecretStore", "ClusterSecretStore"),
    *("Role*", "ClusterRole*", "*Binding", "ServiceAccount", "CustomResourceDefinition"),
    *("*WebhookConfiguration", "*AdmissionPolicy", "*NetworkPolicy", "Namespace"),
    *("PodSecurityPolicy", "APIService", "Application", "ApplicationSet", "AppProject"),
    *("HelmRelease", "GitRepository", "OCIRepository", "HelmRepository", "Bucket"),
)
"""Kinds that are left alone, but for the few narrow rules that name them."""

_ADDS = (EditOp.INSERT, EditOp.APPEND)


@dataclass(frozen=True, slots=True)
class Part:
    """A field that an edit changes, and the rule for that; an added mapping has many."""

    path: FieldPath
    new: Tree
    rule: FieldRule | None


def parts(edit: Edit) -> tuple[Part, ...]:
    """Return what an edit changes, down to the fields that there are rules for."""
    edit = chart_values.as_change(edit)
    kind = edit.document.kind if edit.document else ""
    undone = field_rules.undone(kind, edit.path) if edit.undo_of else None
    if undone:
        return (Part(edit.path, edit.after, undone),)
    return tuple(_parts(kind, edit.op, edit.path, edit.after))


def judge(
    limits: Limits, edit: Edit, before: Mapping[str, bytes], past: Sequence[Step] = ()
) -> Iterator[Violation]:
    """Yield what is wrong with one edit of a field; `before` holds the files it is made in.

    What an edit brings back by undoing a commit ran here before: `past` has to prove that, and
    then it may go further than what nobody has tried.
    """
    if edit.undo_of and (unproven := undoing.fault(edit, past)):
        yield Violation(Rule.UNDO, unproven)
    if wrong := chart_values.fault(edit):
        yield Violation(Rule.FIELD, wrong)
        return
    found, written = parts(edit), edit
    edit = chart_values.as_change(edit)
    kind = edit.document.kind if edit.document else ""
    narrow = all(part.rule and part.rule.narrow for part in found)
    if _denied(kind, edit.file, limits, narrow=narrow):
        yield Violation(Rule.KIND, f"objects of kind {kind!r} are never changed")
        return
    for part in found:
        where = f"{path_text(part.path)} of a {kind}"
        if part.rule is None:
            what = "" if edit.op is EditOp.SET else f" by {edit.op.value}"
            yield Violation(Rule.FIELD, f"{where} is not a field that may change{what}")
        elif fault := part.rule.bound(edit.before, part.new, limits) or _beside(
            part, written, before
        ):
            yield Violation(Rule.BOUND, f"{where}: {fault}")


def judge_mounts(edits: Sequence[Edit]) -> Iterator[Violation]:
    """Yield what mounts anything but an empty volume that is added for it."""
    volumes = {(edit.of, name) for edit in edits for name in _added(edit, "volumes")}
    for edit in edits:
        for name in _added(edit, "volumeMounts"):
            if (edit.of, name) not in volumes:
                detail = f"the volume {name!r} is not added with its mount"
                yield Violation(Rule.FIELD, detail)


def _parts(kind: str, op: EditOp, path: FieldPath, new: Tree) -> Iterator[Part]:
    rule = field_rules.find(kind, path, op)
    if rule or op is not EditOp.INSERT or not isinstance(new, dict) or not new:
        yield Part(path, new, rule)
        return
    for key, value in new.items():
        yield from _parts(kind, op, (*path, key), value)


def _added(edit: Edit, section: str) -> list[str]:
    edit = chart_values.as_change(edit)
    if edit.op not in _ADDS or edit.path[-1:] != (section,):
        return []
    items = edit.after if isinstance(edit.after, list) else [edit.after]
    return [str(item.get("name")) for item in items if isinstance(item, dict)]


def _denied(kind: str, file: str, limits: Limits, *, narrow: bool) -> bool:
    if kind == "Kustomization" and not is_kustomization(file):
        return True
    never = limits.denied_kinds if narrow else (*NEVER_KINDS, *limits.denied_kinds)
    return any(fnmatchcase(kind.casefold(), name.casefold()) for name in never)


def _beside(part: Part, edit: Edit, before: Mapping[str, bytes]) -> str:
    """Judge what holds the field, as the file has it."""
    if part.rule is None or part.rule.beside is None or edit.document is None:
        return ""
    if edit.renders:
        return "what stands beside it elsewhere is not judged"
    try:
        around = _read(edit.file, before.get(edit.file, b""), edit.document, part.path[:-1])
    except EditRefused as refused:
        return str(refused)
    return part.rule.beside(around)


def _read(file: str, data: bytes, ref: ObjectRef, path: FieldPath) -> Tree:
    document = manifests.meant(file, data, ref)
    return trees.read(find(document.node, path))
