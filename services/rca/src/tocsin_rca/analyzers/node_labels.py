"""Pods that no node suits, as no node carries the labels that they ask for."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from tocsin_cluster.manifest import POD_TEMPLATE, Manifest
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding
from tocsin_rca.evidence import placement
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.decisive import decisive
from tocsin_rca.evidence.likeness import meant
from tocsin_rca.evidence.node_facts import NodeFacts
from tocsin_rca.evidence.placement import Obstacle
from tocsin_rca.evidence.pod_needs import affinity_terms, fits_affinity, node_selector
from tocsin_rca.evidence.remedy import deleted
from tocsin_rca.evidence.unscheduled import Unscheduled, unscheduled

_HARDWARE = re.compile(r"(?i)gpu|accel|arch|disk|ssd|nvme|zone|region|pool|spot|tier|group|type")
_HOST = "kubernetes.io/hostname"
_AFFINITY = (
    *("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
    "nodeSelectorTerms",
)
_ALIKE = 0.6
"""Labels are short, and only one value is in question."""


class NodeLabels:
    """The node selector, or the required node affinity, excludes every node."""

    name = "node_labels"
    needs = (
        "What the scheduler says of the pod, its node selector and affinity, and the nodes' labels."
    )
    proof = "The scheduler refuses nodes because they lack the labels that the pod asks for."
    against = (
        "Volumes, spreading, missing room, taints or nodes out of service keep it from the nodes "
        "that would fit."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; with a change only if the label that was meant is certain."""
        seen = unscheduled(case)
        refusal = decisive(seen) if seen else None
        if seen is None or refusal is None or refusal.obstacle is not Obstacle.LABELS:
            return ()
        selector, terms = node_selector(seen.spec), affinity_terms(seen.spec)
        labelled = tuple(node for node in seen.nodes if node.labels)
        by_affinity = _is_affinity(labelled, selector, terms)
        change, because, ids = (
            _of_affinity(seen, terms, labelled)
            if by_affinity
            else _change(seen, selector, labelled)
        )
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
    if because := _useless(seen, key, value, labelled):
        return deleted(seen.object, path, value), because, ()
    right = meant(value, known) if len(known) > 1 else next(iter(known), None)
    if right is None or not _is_alike(value, right):
        return None, "", ()
    return _set(seen, path, value, right), f"Nodes carry {key}={right}, and nothing like it.", ()


def _of_affinity(
    seen: Unscheduled, terms: tuple[Mapping[str, Any], ...], labelled: tuple[NodeFacts, ...]
) -> tuple[FieldChange | None, str, tuple[str, ...]]:
    """The one value of the only term that no node carries, where those that fit the rest do."""
    asked = [one for term in terms for one in term.get("matchExpressions") or ()]
    plain = len(terms) == 1 and terms[0].keys() == {"matchExpressions"}
    wrong = [
        (at, one)
        for at, one in enumerate(asked)
        if not any(fits_affinity(node, ({"matchExpressions": [one]},)) for node in labelled)
    ]
    values = list(wrong[0][1].get("values") or []) if len(wrong) == 1 else []
    if not plain or len(values) != 1 or wrong[0][1].get("operator") != "In":
        return None, "", ()
    at, one = wrong[0]
    rest = {"matchExpressions": [other for other in asked if other is not one]}
    near = [n for n in labelled if not rest["matchExpressions"] or fits_affinity(n, (rest,))]
    known, key = {str(n.labels.get(one.get("key"))) for n in near}, one.get("key")
    right = known.pop() if len(known) == 1 else None
    if right is None or not _is_alike(str(values[0]), right):
        return None, "", ()
    path = (*_AFFINITY, 0, "matchExpressions", at, "values", 0)
    change = _set(seen, (*POD_TEMPLATE.get(seen.object.kind, ()), *path), values[0], right)
    return change, f"The nodes that fit the rest carry {key}={right}.", ()


def _useless(seen: Unscheduled, key: str, value: str, labelled: tuple[NodeFacts, ...]) -> str:
    """Return why a label keeps the pod from every node for ever; empty if it may not."""
    if labelled and not any(key in node.labels for node in labelled) and _is_nobodys(key):
        return f"No node carries any {key}, so that nothing can ever run with it."
    if key == _HOST and _is_gone(seen, value, labelled):
        return f"There is no node {value}, and nothing that the pod keeps is on a node."
    return ""


def _is_nobodys(key: str) -> bool:
    """Whether a label is neither a platform's, whose nodes may come, nor a kind of hardware."""
    return "/" not in key and not _HARDWARE.search(key)


def _is_gone(seen: Unscheduled, host: str, labelled: tuple[NodeFacts, ...]) -> bool:
    """Whether every node was seen, none is that host, and the pod keeps nothing on its node."""
    volumes = Manifest(seen.spec).items("volumes")
    kept = any("hostPath" in one or "persistentVolumeClaim" in one for one in volumes)
    every = placement.nodes_in(seen.statement.text) == len(labelled)
    return every and not kept and seen.object.kind == "Deployment" and _is_far(host, labelled)


def _is_far(host: str, labelled: tuple[NodeFacts, ...]) -> bool:
    return not any(_is_alike(host, node.labels.get(_HOST, "")) for node in labelled)


def _is_alike(written: str, right: str) -> bool:
    return SequenceMatcher(None, written.lower(), right.lower(), autojunk=False).ratio() >= _ALIKE


def _path(seen: Unscheduled, key: str) -> FieldPath:
    return (*POD_TEMPLATE.get(seen.object.kind, ()), "spec", "nodeSelector", key)


def _set(seen: Unscheduled, path: FieldPath, old: str, new: str) -> FieldChange:
    return FieldChange(object=seen.object, path=path, old=old, new=new)
