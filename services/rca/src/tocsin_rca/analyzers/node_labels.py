"""Pods that no node suits, as no node carries the labels that they ask for."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from tocsin_cluster.manifest import POD_TEMPLATE
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.decisive import decisive
from tocsin_rca.evidence.node_facts import NodeFacts
from tocsin_rca.evidence.placement import Obstacle
from tocsin_rca.evidence.pod_needs import affinity_terms, fits_affinity, node_selector
from tocsin_rca.evidence.remedy import deleted
from tocsin_rca.evidence.unscheduled import Unscheduled, unscheduled

_HARDWARE = re.compile(r"(?i)gpu|accel|arch|disk|ssd|nvme|zone|region|pool|spot|tier|group|type")
_ALIKE = 0.6
"""Labels are short, and only one value is in question."""


class NodeLabels:
    """The node selector, or the required node affinity, excludes every node."""

    name = "node_labels"

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; with a change only if the label that was meant is certain."""
        seen = unscheduled(case)
        refusal = decisive(seen) if seen else None
        if seen is None or refusal is None or refusal.obstacle is not Obstacle.LABELS:
            return ()
        selector, terms = node_selector(seen.spec), affinity_terms(seen.spec)
        labelled = tuple(node for node in seen.nodes if node.labels)
        by_affinity = _is_affinity(labelled, selector, terms)
        change, because, ids = (None, "", ()) if by_affinity else _change(seen, selector, labelled)
        wanted = ", ".join(f"{key}={value}" for key, value in selector.items())
        what = "required node affinity" if by_affinity else f"node selector {wanted}".strip()
        return (
            Finding(
                cause=CauseClass.NODE_AFFINITY_MISMATCH
                if by_affinity
                else CauseClass.NODE_SELECTOR_MISMATCH,
                object=seen.object,
                confidence=seen.sure(0.95 if seen.only or seen.fits_none else 0.88),
                summary=f"No node suits {seen.object}: {refusal.count} nodes do not satisfy"
                f" its {what}.",
                evidence=seen.proven_by(*(node.id for node in labelled), *ids),
                change=change,
                because=because or "Nothing that was seen says which label was meant.",
            ),
        )


def _is_affinity(
    labelled: tuple[NodeFacts, ...],
    selector: Mapping[str, str],
    terms: tuple[Mapping[str, Any], ...],
) -> bool:
    """Whether it is the affinity and not the selector that excludes the nodes."""
    if not (selector and terms):
        return bool(terms)
    selected = [node for node in labelled if node.carries(selector)]
    return bool(selected) and not any(fits_affinity(node, terms) for node in selected)


def _change(
    seen: Unscheduled, selector: Mapping[str, str], labelled: tuple[NodeFacts, ...]
) -> tuple[FieldChange | None, str, tuple[str, ...]]:
    missing = [
        key for key, value in selector.items() if not any(n.carries({key: value}) for n in labelled)
    ]
    keys = missing if labelled else list(selector)
    if len(keys) != 1:
        return None, "", ()
    key, value, path = keys[0], selector[keys[0]], _path(seen, keys[0])
    commit = seen.case.last_change(seen.object, path, value)
    if commit and isinstance(commit.field.before, str):
        before = commit.field.before
        because = f"{commit.told} changed it from {before}; this undoes that."
        return _set(seen, path, value, before), because, (commit.seen.id,)
    known = {node.labels[key] for node in labelled if key in node.labels}
    if labelled and not known and _is_nobodys(key):
        because = f"No node carries any {key}, so that nothing can ever run with it."
        return deleted(seen.object, path, value), because, ()
    right = known.pop() if len(known) == 1 else None
    if right is None or not _is_alike(value, right):
        return None, "", ()
    return _set(seen, path, value, right), f"Nodes carry {key}={right}, and nothing like it.", ()


def _is_nobodys(key: str) -> bool:
    """Whether a label is neither a platform's, whose nodes may come, nor a kind of hardware."""
    return "/" not in key and not _HARDWARE.search(key)


def _is_alike(written: str, right: str) -> bool:
    return SequenceMatcher(None, written.lower(), right.lower(), autojunk=False).ratio() >= _ALIKE


def _path(seen: Unscheduled, key: str) -> FieldPath:
    return (*POD_TEMPLATE.get(seen.object.kind, ()), "spec", "nodeSelector", key)


def _set(seen: Unscheduled, path: FieldPath, old: str, new: str) -> FieldChange:
    return FieldChange(object=seen.object, path=path, old=old, new=new)
