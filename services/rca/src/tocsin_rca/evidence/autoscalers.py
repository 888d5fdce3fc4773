"""Autoscalers around a workload: their bounds, and how far their metrics are from the target."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import Observation

_SHARES = re.compile(r"(?P<now>\d{1,6})%(?: \([^)\n]{1,40}\))? ?/ ?(?P<target>\d{1,6})%")

_UNKNOWN = re.compile(r"<unknown> ?/")


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """A HorizontalPodAutoscaler as it was seen."""

    case: Case
    seen: Observation[Manifest]

    @property
    def ref(self) -> ObjectRef:
        """Which autoscaler it is."""
        return self.seen.data.ref

    @property
    def target(self) -> ObjectRef:
        """The workload that it scales."""
        kind = str(self.seen.data.dig("spec", "scaleTargetRef", "kind") or "Deployment")
        name = str(self.seen.data.dig("spec", "scaleTargetRef", "name") or "")
        return ObjectRef(kind=kind, namespace=self.ref.namespace, name=name)

    @property
    def most(self) -> int | None:
        """The most replicas that it may make."""
        found = self.seen.data.dig("spec", "maxReplicas")
        return found if isinstance(found, int) else None

    @property
    def current(self) -> int | None:
        """How many replicas there are."""
        found = self.seen.data.dig("status", "currentReplicas")
        return found if isinstance(found, int) else None

    def condition(self, kind: str) -> str:
        """Return the status of a condition, with its reason; empty if it is not known."""
        for one in self.seen.data.items("status", "conditions"):
            if one.get("type") == kind:
                return f"{one.get('status')} {one.get('reason') or ''}".strip()
        return ""

    def is_unknown_in(self, text: str) -> bool:
        """Whether a table or a description says that its metric is unknown."""
        lines = [line for line in text.splitlines()[:200] if _UNKNOWN.search(line)]
        described = "Reference:" in text and self.ref.name in text
        return any(self.ref.name in line for line in lines) or (described and bool(lines))

    @property
    def ratio(self) -> float | None:
        """How many times the target its worst metric is; None if that was not seen."""
        found = [*self._measured(), *self._printed()]
        return max(found, default=None)

    def _measured(self) -> Iterator[float]:
        targets = {
            _name(metric): dig(metric, "resource", "target", "averageUtilization")
            for metric in self.seen.data.items("spec", "metrics")
        }
        old = self.seen.data.dig("spec", "targetCPUUtilizationPercentage")
        for metric in self.seen.data.items("status", "currentMetrics"):
            now = dig(metric, "resource", "current", "averageUtilization")
            target = targets.get(_name(metric)) or old
            if isinstance(now, int) and isinstance(target, int) and target > 0:
                yield now / target

    def _printed(self) -> Iterator[float]:
        for seen in self.case.texts(kind="HorizontalPodAutoscaler"):
            lines = seen.data.text.splitlines()[:200]
            own = self.ref.name in seen.data.text
            table = any(self.ref.name in line for line in lines if _SHARES.search(line))
            for line in lines:
                found = _SHARES.search(line) if own else None
                if found and int(found["target"]) and (self.ref.name in line or not table):
                    yield int(found["now"]) / int(found["target"])


def autoscalers(case: Case) -> tuple[Autoscaler, ...]:
    """Return the autoscalers that the alert names or that scale the workload; else all."""
    found = [Autoscaler(case, seen) for seen in case.manifests("HorizontalPodAutoscaler")]
    own = [one for one in found if one.ref == case.named or one.target == case.workload]
    return tuple(own or found)


def _name(metric: object) -> str:
    return str(dig(metric, "resource", "name") or "")
