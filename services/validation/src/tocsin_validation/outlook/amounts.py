"""How much the pods of a change ask for, before and after. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tocsin_cluster.manifest import Manifest
from tocsin_gitops import quantity
from tocsin_validation.outlook import preview
from tocsin_validation.ports import Proposed

KINDS = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
NONE = Decimal(0)
_COUNTED = {
    "DaemonSet": ("status", "desiredNumberScheduled"),
    "Job": ("spec", "parallelism"),
    "CronJob": ("spec", "jobTemplate", "spec", "parallelism"),
    "Pod": (),
}
_ONE = ("Job", "CronJob")
"""Where it is 1 if nothing is said."""

_GIB = Decimal(1024**3)
_MIB = Decimal(1024**2)
_SMALL = Decimal("0.1")


@dataclass(frozen=True, slots=True)
class Load:
    """What one pod asks for, by `requests.memory` and the like, and how many pods there are."""

    pod: Mapping[str, Decimal]
    pods: int

    def all(self, kind: str) -> Decimal:
        """Return what all of them ask for."""
        return self.pod.get(kind, NONE) * self.pods


@dataclass(frozen=True, slots=True)
class Shift:
    """The load of one object, before and after."""

    before: Load
    after: Load

    def more(self, kind: str) -> Decimal:
        """Return how much more all of the pods ask for; less than nothing if it is less."""
        return self.after.all(kind) - self.before.all(kind)

    @property
    def more_pods(self) -> int:
        """How many pods more there are."""
        return self.after.pods - self.before.pods

    @property
    def grows(self) -> bool:
        """Whether anything becomes more."""
        return self.more_pods > 0 or any(self.more(kind) > 0 for kind in KINDS)


def shift(change: Proposed) -> Shift | None:
    """Return what the change does to what pods ask for; None if that cannot be told."""
    states = preview.states(change)
    if states is None or not states[0].template:
        return None
    before, after = states
    pods = replicas(before), replicas(after)
    if pods[0] is None or pods[1] is None:
        return None
    return Shift(Load(needs(before), pods[0]), Load(needs(after), pods[1]))


def has_pods(change: Proposed) -> bool:
    """Whether what changes may change what pods ask for, or how many there are."""
    paths = [path for one in change.hypothesis.finding.changes if (path := one.path)]
    return any("resources" in path or path[-1] == "replicas" for path in paths)


def replicas(manifest: Manifest) -> int | None:
    """Return how many pods an object runs, of a DaemonSet those that are wanted now.

    None if it does not say: an autoscaler may decide it.
    """
    where = _COUNTED.get(manifest.ref.kind, ("spec", "replicas"))
    found = manifest.dig(*where) if where else 1
    if found is None and manifest.ref.kind in _ONE:
        return 1
    return found if isinstance(found, int) else None


def needs(manifest: Manifest) -> dict[str, Decimal]:
    """Return what one pod of an object asks for: its containers together, or while one inits.

    An init container that is always restarted runs beside all that come after it.
    """
    most = dict.fromkeys(KINDS, NONE)
    beside = dict.fromkeys(KINDS, NONE)
    for container in _of(manifest, "initContainers"):
        asked = _asked(container)
        for kind in KINDS:
            most[kind] = max(most[kind], beside[kind] + asked.get(kind, NONE))
            if container.get("restartPolicy") == "Always":
                beside[kind] += asked.get(kind, NONE)
    run = [_asked(container) for container in _of(manifest, "containers")]
    return {
        kind: max(most[kind], sum((one.get(kind, NONE) for one in run), beside[kind]))
        for kind in KINDS
    }


def read(value: Any) -> Decimal | None:
    """Return a quantity as a number; None for what is none."""
    try:
        return quantity.parse(value) if isinstance(value, str | int | float) else None
    except quantity.NotAQuantity:
        return None


def size(amount: Decimal, kind: str) -> str:
    """Write an amount the way people say it, with its sign: +3 GiB, -0.5 CPU."""
    sign = "-" if amount < 0 else "+"
    amount = abs(amount)
    if not kind.endswith("memory"):
        return f"{sign}{_short(amount)} CPU"
    unit, name = (_GIB, "GiB") if amount >= _GIB else (_MIB, "MiB")
    return f"{sign}{_short(amount / unit)} {name}"


def _short(amount: Decimal) -> str:
    return f"{amount:.{_digits(amount)}f}".rstrip("0").rstrip(".")


def _digits(amount: Decimal) -> int:
    """Small amounts are told to their thousandth: they are no nothing."""
    return 3 if amount < _SMALL else 2


def _of(manifest: Manifest, section: str) -> list[Mapping[str, Any]]:
    containers = manifest.template.get("spec", {}).get(section)
    held = containers if isinstance(containers, list) else ()
    return [one for one in held if isinstance(one, Mapping)]


def _asked(container: Mapping[str, Any]) -> dict[str, Decimal]:
    """A request that is not written is as much as the limit."""
    resources = Manifest(container.get("resources") or {})
    found = ((kind, read(resources.dig(*kind.split(".")))) for kind in KINDS)
    asked = {kind: amount for kind, amount in found if amount is not None}
    for name in ("cpu", "memory"):
        if f"limits.{name}" in asked:
            asked.setdefault(f"requests.{name}", asked[f"limits.{name}"])
    return asked


def total(manifests: Iterable[Manifest], kind: str) -> Decimal:
    """Return what these pods ask for together."""
    return sum((needs(one).get(kind, NONE) for one in manifests), NONE)
