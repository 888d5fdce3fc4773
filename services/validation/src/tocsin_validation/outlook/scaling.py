"""What another request does to the autoscalers that reckon in shares of it. Pure."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import ObjectRef
from tocsin_validation.outlook import amounts, preview
from tocsin_validation.outlook.amounts import NONE
from tocsin_validation.ports import Proposed

_DEFAULT_AIM = 80
"""The share of CPU that an autoscaler aims at which names no metric."""


def scales(scaler: Manifest, ref: ObjectRef) -> bool:
    """Whether an autoscaler decides how many pods an object has."""
    target = scaler.dig("spec", "scaleTargetRef")
    named = (target.get("kind"), target.get("name")) if isinstance(target, dict) else ()
    return named == (ref.kind, ref.name)


def shifts(change: Proposed) -> Iterator[str]:
    """Yield a sentence for each aim of which the same use becomes another share."""
    states = preview.states(change)
    if states is None or not amounts.has_pods(change):
        return
    mine = (one for one in change.around.scalers.value or () if scales(one, states[0].ref))
    for scaler in mine:
        for resource, share, container in _aims(scaler):
            before, after = (_requested(one, resource, container) for one in states)
            if before != after:
                of = (
                    f"{scaler.ref.kind} {scaler.ref.name} aims at {share} % of requested {resource}"
                )
                yield f"{of}: {_told(before, after)}."


def may_shift(change: Proposed) -> bool:
    """Whether what pods request changes, as far as the object is known."""
    states = preview.states(change)
    resources = any("resources" in one.path for one in change.hypothesis.finding.changes)
    if not resources or states is None:
        return resources
    needs = [amounts.needs(one) for one in states]
    return any(needs[0][kind] != needs[1][kind] for kind in ("requests.cpu", "requests.memory"))


def _told(before: Decimal, after: Decimal) -> str:
    if NONE in (before, after):
        return "that cannot be reckoned where nothing is requested"
    pods = "fewer" if after > before else "more"
    share = round(100 * before / after)
    return f"the same use counts {share} % of what it did, so that {pods} pods may run"


def _aims(scaler: Manifest) -> Iterator[tuple[str, Any, str]]:
    """Yield resource, share and container, which is empty for all of a pod."""
    metrics = scaler.items("spec", "metrics")
    for metric in metrics:
        for key in ("resource", "containerResource"):
            one = metric.get(key)
            share = dig(one, "target", "averageUtilization") if isinstance(one, Mapping) else None
            if isinstance(one, Mapping) and share is not None:
                yield str(one.get("name")), share, str(one.get("container") or "")
    if not metrics:
        yield "cpu", scaler.dig("spec", "targetCPUUtilizationPercentage") or _DEFAULT_AIM, ""


def _requested(workload: Manifest, resource: str, container: str) -> Decimal:
    if not container:
        return amounts.needs(workload).get(f"requests.{resource}", NONE)
    found = workload.container(container)
    asked = found.dig("resources", "requests", resource) if found else None
    limit = found.dig("resources", "limits", resource) if found else None
    return amounts.read(asked if asked is not None else limit) or NONE
