"""Whether a change stands on what was seen: the old value is there, the new one is no invention."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_contracts import ChangeOp, Evidence, EvidenceKind, FieldChange, FieldPath, Scalar

WRITTEN = (EvidenceKind.OBJECT, EvidenceKind.POD, EvidenceKind.MANIFEST, EvidenceKind.COMMIT)
"""Evidence that only people with a right to change things can have written."""

MEASURED = (EvidenceKind.EVENT, EvidenceKind.LOG, EvidenceKind.METRIC, EvidenceKind.CHECK)
"""Evidence that programs write: of it only numbers are taken, which policy keeps in bounds."""

_SMALLEST_NUMBER = 10
"""Smaller ones stand everywhere, so that one stands somewhere says nothing."""

_NAMED = re.compile(r"\[name=(?P<name>[^\]]+)\]")


@dataclass(frozen=True, slots=True)
class FieldSeen:
    """A field as it was just looked up, and what it held before, the newest first."""

    value: Scalar
    before: tuple[Scalar, ...] = ()


def is_founded(change: FieldChange, seen: FieldSeen, cited: Iterable[Evidence]) -> bool:
    """Whether the field holds the old value, and the new one comes from history or evidence.

    Only one scalar in place of another is founded: more than that can do more harm.
    """
    if change.op is not ChangeOp.SET or change.before != change.old or change.after != change.new:
        return False
    if not _same(seen.value, change.old) or change.new is None or _same(change.new, change.old):
        return False
    held_before = any(_same(value, change.new) for value in seen.before)
    return held_before or any(_shows(evidence, change.new) for evidence in cited)


def value_at(tree: Any, path: FieldPath) -> Any:
    """Return what lies at a path; None where a step leads nowhere."""
    for step in path:
        tree = _step(tree, step)
    return tree


def _step(tree: Any, step: str | int) -> Any:
    if isinstance(tree, Mapping):
        return tree.get(step)
    if not isinstance(tree, list):
        return None
    named = _NAMED.fullmatch(str(step))
    if named:
        found = [i for i in tree if isinstance(i, Mapping) and i.get("name") == named["name"]]
        return found[0] if len(found) == 1 else None
    return tree[step] if isinstance(step, int) and 0 <= step < len(tree) else None


def _same(one: Scalar, other: Scalar) -> bool:
    return type(one) is type(other) and one == other


def _shows(evidence: Evidence, value: Scalar) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return evidence.kind in WRITTEN and _stands_in(value, evidence.excerpt, r"\w./:@-")
    if value < _SMALLEST_NUMBER or evidence.kind not in (*WRITTEN, *MEASURED):
        return False
    return _stands_in(str(value), evidence.excerpt, r"\w.")


def _stands_in(value: str, text: str, inside: str) -> bool:
    """Whether a value stands in a text as a whole word; `inside` is what may go on a word."""
    return bool(re.search(rf"(?<![{inside}]){re.escape(value)}(?![{inside}])", text))
