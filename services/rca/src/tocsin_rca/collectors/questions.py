"""What is asked about the metrics of a workload, in PromQL; pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tocsin_contracts import ObjectRef
from tocsin_rca.evidence.metric import Measure, Unit

_RANDOM = "[bcdfghjklmnpqrstvwxz2456789]"
_POD = f"-{_RANDOM}{{5}}"
_PODS = {
    "Deployment": f"-{_RANDOM}{{7,10}}{_POD}",
    "ReplicaSet": _POD,
    "StatefulSet": "-[0-9]+",
    "DaemonSet": _POD,
    "Job": f"(-[0-9]+)?{_POD}",
    "CronJob": f"-[0-9]+(-[0-9]+)?{_POD}",
}
"""What controllers put behind the name of a workload to call its pods, those of the past too."""

_MEMORY = "container_memory_working_set_bytes"
_CPU = "container_cpu_usage_seconds_total"
_PERIODS = "container_cpu_cfs_periods_total"
_THROTTLED = "container_cpu_cfs_throttled_periods_total"
_RESTARTS = "kube_pod_container_status_restarts_total"
_LIMITS = "kube_pod_container_resource_limits"
_MEMORY_SPEC = "container_spec_memory_limit_bytes"

_COUNTERS = {
    "http_requests_total": ("code", "status"),
    "http_server_requests_seconds_count": ("status",),
    "http_server_request_duration_seconds_count": ("http_response_status_code",),
}
"""What usual libraries count requests in, and the labels that may hold the status."""

_BUCKETS = (
    "http_request_duration_seconds_bucket",
    "http_server_requests_seconds_bucket",
    "http_server_request_duration_seconds_bucket",
)
_MESH_COUNTER = "istio_requests_total"
_MESH_BUCKETS = "istio_request_duration_milliseconds_bucket"
_MESH_STATUS = ("response_code",)

_COUNTED = ("_total", "_count", "_sum", "_bucket")
"""How counters are called."""

_OF_PODS = (_MEMORY, _CPU, _PERIODS, _RESTARTS, *_COUNTERS, *_BUCKETS)
_OF_MESH = (_MESH_COUNTER, _MESH_BUCKETS)


@dataclass(frozen=True, slots=True)
class Question:
    """One query, what its numbers mean, and the query for what limits them, if anything does."""

    measure: Measure
    unit: Unit
    query: str
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The series of one workload, as selectors say it."""

    pods: str
    mesh: str

    @property
    def known(self) -> str:
        """The query that names every metric of the workload that can be asked for."""
        pods = f'{{__name__=~"{"|".join(_OF_PODS)}",{self.pods}}}'
        mesh = f'{{__name__=~"{"|".join(_OF_MESH)}",{self.mesh}}}'
        return f"count by (__name__) ({pods} or {mesh})"

    def questions(self, known: Iterable[str]) -> tuple[Question, ...]:
        """Return those that the known metrics can answer."""
        names = frozenset(known)
        found = [question for name, question in self._of_containers() if name in names]
        counters = [(name, status, self.pods) for name, status in _COUNTERS.items()]
        for counter, status, labels in (*counters, (_MESH_COUNTER, _MESH_STATUS, self.mesh)):
            if counter in names:
                errors = _errors(counter, status, labels)
                found.append(Question(Measure.ERRORS, Unit.RATIO, errors))
        for buckets, labels in (*((b, self.pods) for b in _BUCKETS), (_MESH_BUCKETS, self.mesh)):
            if buckets in names:
                found.append(Question(Measure.LATENCY, Unit.SECONDS, _latency(buckets, labels)))
        return tuple(found)

    def _of_containers(self) -> tuple[tuple[str, Question], ...]:
        own = f'{self.pods},container!="",container!="POD"'
        limit = f"max by (container) ({_LIMITS}{{{self.pods},resource="
        memory = f"max by (container) ({_MEMORY}{{{own}}})"
        spec = f"max by (container) ({_MEMORY_SPEC}{{{own}}} > 0)"
        cpu = f"max by (container) ({_rate(_CPU, own)})"
        throttled = (
            f"sum by (container) ({_rate(_THROTTLED, own)})"
            f" / sum by (container) ({_rate(_PERIODS, own)})"
        )
        restarts = f"max by (container) ({_RESTARTS}{{{self.pods}}})"
        return (
            (
                _MEMORY,
                Question(Measure.MEMORY, Unit.BYTES, memory, f'{limit}"memory"}}) or {spec}'),
            ),
            (_CPU, Question(Measure.CPU, Unit.CORES, cpu, f'{limit}"cpu"}})')),
            (_PERIODS, Question(Measure.THROTTLING, Unit.RATIO, throttled)),
            (_RESTARTS, Question(Measure.RESTARTS, Unit.NUMBER, restarts)),
        )


def of_workload(
    workload: ObjectRef, pods: Iterable[str], cluster: Mapping[str, str]
) -> Asked | None:
    """Return what can be asked about a workload; None if nobody can tell how its pods are called.

    `pods` are those that are known by name.
    """
    called = [_plain(pod) for pod in pods]
    if workload.kind in _PODS:
        called.insert(0, _plain(workload.name) + _PODS[workload.kind])
    if not called:
        return None
    own = [("namespace", "=", workload.namespace), ("pod", "=~", "|".join(called))]
    mesh = [
        ("destination_workload_namespace", "=", workload.namespace),
        ("destination_workload", "=", workload.name),
        ("reporter", "=", "destination"),
    ]
    where = [(label, "=", value) for label, value in cluster.items()]
    return Asked(_matching(own + where), _matching(mesh + where))


def by_label(metric: str, label: str, namespace: str, cluster: Mapping[str, str]) -> str:
    """Return the query for one metric of everything, by one label; of a counter for its rate.

    The names of the metric and of the label must be such.
    """
    where = [("namespace", "=", namespace)] if namespace else []
    matching = _matching([*where, *((name, "=", value) for name, value in cluster.items())])
    one = _rate(metric, matching) if metric.endswith(_COUNTED) else f"{metric}{{{matching}}}"
    return f"sum by ({label}) ({one})"


def _plain(name: str) -> str:
    return re.escape(name).replace(r"\-", "-")


def _matching(matchers: Iterable[tuple[str, str, str]]) -> str:
    return ",".join(f"{label}{op}{_quoted(text)}" for label, op, text in matchers)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _rate(metric: str, labels: str) -> str:
    return f"rate({metric}{{{labels}}}[5m])"


def _errors(counter: str, status: Iterable[str], labels: str) -> str:
    """No series of a failed request is no failure, but only where a label would tell of one."""
    return " or ".join(_error_share(counter, f"{labels},{label}") for label in status)


def _error_share(counter: str, status: str) -> str:
    failed, every = _rate(counter, f'{status}=~"5.."'), _rate(counter, f'{status}!=""')
    return f"sum({failed}) / sum({every}) or 0 * sum({every})"


def _latency(buckets: str, labels: str) -> str:
    seconds = f"histogram_quantile(0.95, sum by (le) ({_rate(buckets, labels)}))"
    return f"{seconds} / 1000" if "milliseconds" in buckets else seconds
