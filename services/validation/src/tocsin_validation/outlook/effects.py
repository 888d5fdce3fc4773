"""What a change does to the cluster, in sentences for the people who decide. Pure."""

from collections.abc import Iterator
from decimal import Decimal

from tocsin_cluster.manifest import Manifest
from tocsin_validation.outlook import amounts, preview, scaling
from tocsin_validation.outlook.amounts import KINDS, Shift, size
from tocsin_validation.ports import Proposed

HOURS_OF_A_MONTH = 730
_GIB = Decimal(1024**3)
_SCALER = "HorizontalPodAutoscaler"
_HOW = {"Recreate": "all at once", "OnDelete": "each once somebody deletes it"}
_ROLLED = ("Deployment", "StatefulSet", "DaemonSet", "Rollout")


def effects(change: Proposed) -> tuple[str, ...]:
    """Return a sentence for each effect that is known; none where nothing is."""
    shift = amounts.shift(change) if amounts.has_pods(change) else None
    return (
        *_rollout(change),
        *_scaler(change),
        *scaling.shifts(change),
        *(_amounts(shift) if shift else ()),
        *(_shares(change, shift) if shift else ()),
        *(_cost(change, shift) if shift else ()),
    )


def shares(change: Proposed, shift: Shift) -> Iterator[tuple[str, str, Decimal, Decimal, Decimal]]:
    """Yield each bound of a quota that comes nearer: quota, key, used, more, hard."""
    more = {kind: shift.more(kind) for kind in KINDS} | {"pods": Decimal(shift.more_pods)}
    more |= {name: more[f"requests.{name}"] for name in ("cpu", "memory")}
    for quota in change.around.quotas.value or ():
        for key, added in more.items():
            hard = amounts.read(quota.dig("status", "hard", key) or quota.dig("spec", "hard", key))
            used = amounts.read(quota.dig("status", "used", key))
            if hard is not None and used is not None and added > 0:
                yield quota.ref.name, key, used, added, hard


def _rollout(change: Proposed) -> Iterator[str]:
    states = preview.states(change)
    if states is None or states[0].template == states[1].template:
        return
    ref = states[0].ref
    if ref.kind in _ROLLED:
        pods = amounts.replicas(states[1])
        many = "pods" if pods is None else f"{pods} pod(s)"
        yield f"The {many} of {ref} are replaced by new ones, {_how(states[1])}."


def _scaler(change: Proposed) -> Iterator[str]:
    for one in change.hypothesis.finding.changes:
        if one.object.kind == _SCALER and one.path == ("spec", "maxReplicas"):
            states = preview.states(change)
            of = states[0].dig("spec", "scaleTargetRef") if states else None
            scaled = f" of {of.get('kind')} {of.get('name')}" if isinstance(of, dict) else ""
            yield f"Up to {one.after} pods{scaled} may run, and not {one.before}."


def _how(manifest: Manifest) -> str:
    kind = manifest.dig("spec", "strategy", "type") or manifest.dig(
        "spec", "updateStrategy", "type"
    )
    if manifest.ref.kind == "Rollout":
        return "as its strategy says"
    return _HOW.get(str(kind), "a few at a time")


def _amounts(shift: Shift) -> Iterator[str]:
    if shift.more_pods:
        yield f"{shift.before.pods} pod(s) become {shift.after.pods}."
    for kind in KINDS:
        whole = shift.more(kind)
        each = shift.after.pod.get(kind, amounts.NONE) - shift.before.pod.get(kind, amounts.NONE)
        if whole and each:
            times = "for each pod" if shift.more_pods else f"x {shift.after.pods} pod(s)"
            yield f"{kind}: {size(each, kind)} {times}, {size(whole, kind)} in all."
        elif whole:
            yield f"{kind}: {size(whole, kind)} in all."


def _shares(change: Proposed, shift: Shift) -> Iterator[str]:
    for quota, key, used, added, hard in shares(change, shift):
        if hard:
            now, then = (round(100 * one / hard) for one in (used, used + added))
            yield f"Quota {quota}: {key} goes from {now} % to {then} %."


def _cost(change: Proposed, shift: Shift) -> Iterator[str]:
    prices = change.around.rules.prices
    if prices is None:
        return
    cpu, memory = shift.more("requests.cpu"), shift.more("requests.memory") / _GIB
    an_hour = float(cpu) * prices.cpu_hour + float(memory) * prices.gib_hour
    money = f"{an_hour * HOURS_OF_A_MONTH:+.2f} {prices.currency}".rstrip()
    yield f"Cost by what pods request: {money} a month at the configured prices."
