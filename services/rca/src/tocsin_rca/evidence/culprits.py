"""Which fields a fault may come from: those that an undo of the last commit would put right."""

from collections.abc import Mapping
from dataclasses import dataclass

from tocsin_contracts import CauseClass, FieldPath

_CONTAINERS = ("containers", "initContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


@dataclass(frozen=True, slots=True)
class Culprits:
    """Fields of containers and of pods by name, and fields of other kinds by their path."""

    containers: tuple[str, ...] = ()
    pods: tuple[str, ...] = ()
    others: tuple[tuple[str, ...], ...] = ()

    def root(self, kind: str, path: FieldPath) -> FieldPath:
        """Return the field that a path leads to or into; an empty path if it is none of these."""
        for at, step in enumerate(path):
            if step in _CONTAINERS:
                named = path[at + 2 : at + 3]
                return path[: at + 3] if named and named[0] in self.containers else ()
        for at, step in enumerate(path):
            if step == "spec" and path[at + 1 : at + 2] and path[at + 1] in self.pods:
                return path[: at + 2]
        for other, *fields in self.others:
            if kind == other and path[: len(fields)] == tuple(fields):
                return path[: len(fields)]
        return ()


_START = Culprits(containers=("command", "args"))
_IMAGE = Culprits(containers=("image",))
_PROBING = Culprits(containers=_PROBES)
_AMOUNTS = Culprits(containers=("resources",))
_CLAIM = Culprits(
    others=tuple(
        ("PersistentVolumeClaim", "spec", field)
        for field in ("resources", "storageClassName", "accessModes", "selector")
    )
)
_SERVICE = Culprits(others=(("Service", "spec", "ports"), ("Service", "spec", "selector")))
_ANNOTATIONS = ("Ingress", "metadata", "annotations")
_INGRESS = Culprits(
    others=(
        ("Ingress", "spec"),
        (*_ANNOTATIONS, "nginx.ingress.kubernetes.io/rewrite-target"),
        (*_ANNOTATIONS, "nginx.ingress.kubernetes.io/use-regex"),
        (*_ANNOTATIONS, "nginx.ingress.kubernetes.io/backend-protocol"),
    )
)
_PLACING = Culprits(pods=("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints"))

OF: Mapping[CauseClass, Culprits] = {
    CauseClass.COMMAND_NOT_FOUND: _START,
    CauseClass.CONTAINER_ARGS_INVALID: _START,
    CauseClass.INIT_CONTAINER_FAILURE: Culprits(containers=("command", "args", "image", "env")),
    CauseClass.MISSING_ENV: Culprits(containers=("env",)),
    CauseClass.IMAGE_NAME_WRONG: _IMAGE,
    CauseClass.IMAGE_TAG_NOT_FOUND: _IMAGE,
    CauseClass.IMAGE_REGISTRY_DNS_FAILURE: _IMAGE,
    CauseClass.IMAGE_ARCHITECTURE_MISMATCH: _IMAGE,
    CauseClass.IMAGE_PULL_SECRET_MISSING: Culprits(pods=("imagePullSecrets",)),
    CauseClass.CPU_REQUEST_TOO_LARGE: _AMOUNTS,
    CauseClass.MEMORY_REQUEST_TOO_LARGE: _AMOUNTS,
    CauseClass.LIMIT_RANGE_VIOLATION: _AMOUNTS,
    CauseClass.QUOTA_REQUIRES_FIELD: _AMOUNTS,
    CauseClass.CPU_THROTTLING_LIMIT_TOO_LOW: _AMOUNTS,
    CauseClass.OOM_KILLED_LIMIT_TOO_LOW: _AMOUNTS,
    CauseClass.EPHEMERAL_STORAGE_EXCEEDED: _AMOUNTS,
    CauseClass.HPA_MISSING_REQUEST: _AMOUNTS,
    CauseClass.LIVENESS_PROBE_MISCONFIGURED: _PROBING,
    CauseClass.LIVENESS_PROBE_WRONG_PORT: _PROBING,
    CauseClass.LIVENESS_PROBE_TOO_AGGRESSIVE: _PROBING,
    CauseClass.READINESS_PROBE_MISCONFIGURED: _PROBING,
    CauseClass.READINESS_PROBE_WRONG_PORT: _PROBING,
    CauseClass.STARTUP_PROBE_MISSING: _PROBING,
    CauseClass.PORT_CONFLICT: Culprits(containers=("ports", "args", "command")),
    CauseClass.DNS_MISCONFIGURED: Culprits(pods=("dnsPolicy", "dnsConfig")),
    CauseClass.NODE_SELECTOR_MISMATCH: _PLACING,
    CauseClass.NODE_AFFINITY_MISMATCH: _PLACING,
    CauseClass.TAINT_NOT_TOLERATED: _PLACING,
    CauseClass.POD_ANTI_AFFINITY_CONFLICT: _PLACING,
    CauseClass.TOPOLOGY_SPREAD_UNSATISFIABLE: _PLACING,
    CauseClass.POD_SECURITY_VIOLATION: Culprits(
        containers=("securityContext",), pods=("hostNetwork",)
    ),
    CauseClass.PVC_CAPACITY_MISMATCH: _CLAIM,
    CauseClass.PVC_ACCESS_MODE_MISMATCH: _CLAIM,
    CauseClass.PVC_SELECTOR_MISMATCH: _CLAIM,
    CauseClass.PVC_STORAGE_CLASS_NOT_FOUND: _CLAIM,
    CauseClass.INGRESS_MISROUTE: _INGRESS,
    CauseClass.INGRESS_CLASS_NOT_FOUND: _INGRESS,
    CauseClass.GATEWAY_ROUTE_WRONG: Culprits(others=(("HTTPRoute", "spec", "rules"),)),
    CauseClass.SERVICE_SELECTOR_MISMATCH: _SERVICE,
    CauseClass.SERVICE_TARGET_PORT_MISMATCH: _SERVICE,
    CauseClass.SERVICE_PROTOCOL_MISMATCH: _SERVICE,
    CauseClass.PDB_BLOCKS: Culprits(others=(("PodDisruptionBudget", "spec"),)),
    CauseClass.CRONJOB_MISCONFIGURED: Culprits(
        others=tuple(
            ("CronJob", "spec", field)
            for field in ("schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy")
        )
    ),
    CauseClass.JOB_DEADLINE_OR_BACKOFF: Culprits(
        others=(
            *(("Job", "spec", field) for field in ("activeDeadlineSeconds", "backoffLimit")),
            ("CronJob", "spec", "jobTemplate", "spec", "activeDeadlineSeconds"),
            ("CronJob", "spec", "jobTemplate", "spec", "backoffLimit"),
        )
    ),
    CauseClass.PROMETHEUS_RULE_ERROR: Culprits(others=(("PrometheusRule", "spec", "groups"),)),
    CauseClass.GITOPS_SYNC_FAILED: Culprits(
        others=(("StatefulSet", "spec", "volumeClaimTemplates"),)
    ),
    CauseClass.ADMISSION_DENIED: _IMAGE,
}
"""A cause that is not here has no field that a commit could have spoilt, or is never undone."""
