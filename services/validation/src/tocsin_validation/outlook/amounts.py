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
_GIB = Decimal(1024**3)
_MIB = Decimal(1024**2)


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
    before, after = (Load(needs(one), replicas(one, change)) for one in states)
    return Shift(before, after)


def has_pods(change: Proposed) -> bool:
    """Whether what changes may change what pods ask for, or how many there are."""
    paths = [path for one in change.hypothesis.finding.changes if (path := one.path)]
    return any("resources" in path or path[-1] == "replicas" for path in paths)


def replicas(manifest: Manifest, change: Proposed) -> int:
    """Return how many pods an object runs; of a DaemonSet those that are wanted now."""
    if manifest.ref.kind == "DaemonSet":
        wanted = manifest.dig("status", "desiredNumberScheduled")
        nodes = change.around.nodes.value
        return int(wanted) if wanted is not None else len(nodes or ()) or 1
    found = manifest.dig("spec", "replicas")
    if found is None:
        found = manifest.dig("spec", "parallelism")
    return found if isinstance(found, int) else 1


def needs(manifest: Manifest) -> dict[str, Decimal]:
    """Return what one pod of an object asks for: its containers together, or one that inits."""
    groups = {section: _of(manifest, section) for section in ("containers", "initContainers")}
    return {
        kind: max(
            sum((one.get(kind, NONE) for one in groups["containers"]), NONE),
            max((one.get(kind, NONE) for one in groups["initContainers"]), default=NONE),
        )
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
    return f"{amount:.2f}".rstrip("0").rstrip(".")


def _of(manifest: Manifest, section: str) -> list[dict[str, Decimal]]:
    containers = manifest.template.get("spec", {}).get(section)
    held = containers if isinstance(containers, list) else ()
    return [_asked(one) for one in held if isinstance(one, Mapping)]


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
