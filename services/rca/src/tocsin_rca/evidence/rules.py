"""The expressions of alerting and recording rules, and what a refusal of one says of them."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import FieldChange, FieldPath
from tocsin_gitops import promql
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.remedy import Remedy

_MANY = re.compile(r"(?i)many-to-many|duplicate series for the match group")


def matched(rule: Observation[Manifest], said: str) -> Remedy | None:
    """Sum a division that matches many series with many, if it is the only one of its object."""
    if not _MANY.search(said):
        return None
    found = [
        (path, old, new) for path, old in _expressions(rule.data) if (new := promql.summed(old))
    ]
    if len(found) != 1:
        return None
    path, old, new = found[0]
    change = FieldChange(object=rule.data.ref, path=path, old=old, new=new)
    because = (
        "Sums over the labels that it matches on leave one series for each; look at the result."
    )
    return Remedy((change,), because, (rule.id,))


def _expressions(rule: Manifest) -> Iterator[tuple[FieldPath, str]]:
    for group, one in enumerate(rule.items("spec", "groups")):
        found = one.get("rules")
        for at, entry in enumerate(found if isinstance(found, list) else ()):
            text = entry.get("expr") if isinstance(entry, dict) else None
            if isinstance(text, str):
                yield ("spec", "groups", group, "rules", at, "expr"), text
