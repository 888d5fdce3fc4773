"""Pods that a LimitRange of the namespace refuses."""

import re

from tocsin_cluster.manifest import Container, Manifest
from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof, sure
from tocsin_rca.evidence.node_facts import amount
from tocsin_rca.evidence.statements import Told, logged, told

_REFUSED = re.compile(
    r"(?P<bound>maximum|minimum) (?P<resource>cpu|memory|storage|ephemeral-storage) usage per"
    r" (?P<of>Container|Pod|PersistentVolumeClaim) is (?P<allowed>[\w.]{1,30})"
    r"(?:, but (?P<field>limit|request) is (?P<asked>[\w]{1,30}(?:\.\d{1,9}\w{0,2})?))?"
)
_RATIO = re.compile(
    r"(?P<resource>cpu|memory) max limit to request ratio per (?P<of>Container|Pod) is"
    r" (?P<allowed>[\w.]{1,30})"
)
_Change = tuple[FieldChange | None, str, tuple[str, ...]]
_UNDECIDED: _Change = (None, "Which of the two has to give way is for a person to decide.", ())


class LimitRange:
    """A container asks for more, or for less, than the LimitRange allows."""

    name = "limit_range"
    needs = "What the API server refuses, the LimitRanges, and what the containers ask for."
    proof = (
        "The API server refuses a pod or claim for a minimum, a maximum or a ratio of a LimitRange."
    )
    against = "The refusal is about another workload than that of the alert."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; the change goes to the bound that the API server names."""
        for pattern in (_REFUSED, _RATIO):
            found = told(case, pattern) or logged(case, pattern)
            if found:
                return _finding(case, max(found, key=lambda one: sure(case, one.about, 1)))
        return ()


def _finding(case: Case, one: Told) -> tuple[Finding, ...]:
    owner = owner_of(case, one.about)
    if owner is None:
        return ()
    change, because, ids = _change(case, owner, one)
    ranges = tuple(seen.id for seen in case.objects("LimitRange", owner.namespace))
    return (
        Finding(
            cause=CauseClass.LIMIT_RANGE_VIOLATION,
            object=owner,
            confidence=sure(case, one.about, 0.95),
            summary=f"The LimitRange of namespace {owner.namespace} refuses {owner}:"
            f" {one.match.group()}.",
            evidence=proof(case, one.id, *ranges, *ids),
            change=change,
            because=because,
        ),
    )


def _change(case: Case, owner: ObjectRef, one: Told) -> _Change:
    said = one.match.groupdict()
    field = (f"{said.get('field')}s", str(said["resource"]))
    asking = _asking(case, owner, one, field)
    if asking is None:
        return _UNDECIDED
    path, old = (*asking.path, "resources", *field), asking.dig("resources", *field)
    commit = case.last_change(owner, path, old)
    if commit and _within(commit.field.before, said["allowed"], said["bound"]):
        because = f"{commit.told} changed it from {commit.field.before}; this undoes that."
        new = commit.field.before
        return FieldChange(object=owner, path=path, old=old, new=new), because, (commit.seen.id,)
    if not _leaves_order(asking.raw, field, said["allowed"]):
        return _UNDECIDED
    because = f"{said['allowed']} is the {said['bound']} that the LimitRange allows."
    return FieldChange(object=owner, path=path, old=old, new=said["allowed"]), because, ()


def _asking(case: Case, owner: ObjectRef, one: Told, field: tuple[str, str]) -> Container | None:
    """Return the one container that breaks the one bound; None if it cannot be told."""
    said, manifest = one.match.groupdict(), case.manifest(owner)
    if manifest is None or said["of"] != "Container" or not said.get("field"):
        return None
    if len(_REFUSED.findall(one.statement.text)) > 1:
        return None
    found = [c for c in manifest.data.containers() if _asks(c, field, said["asked"])]
    return found[0] if len(found) == 1 else None


def _asks(container: Container, field: tuple[str, str], asked: str) -> bool:
    value = amount(container.dig("resources", *field))
    return value is not None and value == amount(asked.rstrip("."))


def _within(value: object, allowed: str, bound: str) -> bool:
    size, edge = amount(value if isinstance(value, str | int | float) else None), amount(allowed)
    if size is None or edge is None:
        return False
    return size <= edge if bound == "maximum" else size >= edge


def _leaves_order(raw: object, field: tuple[str, str], allowed: str) -> bool:
    """Whether the request stays at or below the limit."""
    held = Manifest(raw if isinstance(raw, dict) else {})
    section, resource = field
    other = held.dig("resources", "requests" if section == "limits" else "limits", resource)
    size, edge = amount(other), amount(allowed)
    if size is None or edge is None:
        return edge is not None
    return size <= edge if section == "limits" else size >= edge
