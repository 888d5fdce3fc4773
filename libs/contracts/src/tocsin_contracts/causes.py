"""Names of causes: one for each, and the family it is of; docs/causes.md says what each means."""

from enum import StrEnum
from typing import Self


class Family(StrEnum):
    """Which part of a system a cause is in; `none` is for alerts that nothing is wrong behind."""

    AUTOSCALING = "autoscaling"
    CONFIG = "config"
    DEPENDENCY = "dependency"
    IMAGE = "image"
    NETWORK = "network"
    PROBE = "probe"
    QUOTA_RBAC = "quota_rbac"
    RELEASE = "release"
    RESOURCES = "resources"
    SCHEDULING = "scheduling"
    STORAGE = "storage"
    INFRASTRUCTURE = "infrastructure"
    NONE = "none"


class CauseClass(StrEnum):
    """One name per cause; docs/causes.md says what each means."""

    family: Family

    def __new__(cls, name: str, family: Family) -> Self:
        """Make a cause whose value is its name."""
        cause = str.__new__(cls, name)
        cause._value_ = name
        cause.family = family
        return cause

    HPA_MAX_TOO_LOW = "hpa_max_too_low", Family.AUTOSCALING
    HPA_MISSING_REQUEST = "hpa_missing_request", Family.AUTOSCALING
    HPA_METRIC_UNAVAILABLE = "hpa_metric_unavailable", Family.AUTOSCALING
    TRAFFIC_SPIKE_RATE_LIMITED = "traffic_spike_rate_limited", Family.AUTOSCALING
    MISSING_ENV = "missing_env", Family.CONFIG
    CONFIG_VALUE_WRONG = "config_value_wrong", Family.CONFIG
    CONFIGMAP_NOT_FOUND = "configmap_not_found", Family.CONFIG
    CONFIGMAP_KEY_MISSING = "configmap_key_missing", Family.CONFIG
    SECRET_NOT_FOUND = "secret_not_found", Family.CONFIG
    SECRET_KEY_MISSING = "secret_key_missing", Family.CONFIG
    COMMAND_NOT_FOUND = "command_not_found", Family.CONFIG
    CONTAINER_ARGS_INVALID = "container_args_invalid", Family.CONFIG
    INIT_CONTAINER_FAILURE = "init_container_failure", Family.CONFIG
    ZERO_REPLICAS = "zero_replicas", Family.CONFIG
    NAMESPACE_TYPO = "namespace_typo", Family.CONFIG
    CERTIFICATE_EXPIRED = "certificate_expired", Family.CONFIG
    CERTIFICATE_MISMATCH = "certificate_mismatch", Family.CONFIG
    CREDENTIALS_INVALID = "credentials_invalid", Family.CONFIG
    PORT_CONFLICT = "port_conflict", Family.CONFIG
    PROMETHEUS_RULE_ERROR = "prometheus_rule_error", Family.CONFIG
    CRONJOB_MISCONFIGURED = "cronjob_misconfigured", Family.CONFIG
    JOB_DEADLINE_OR_BACKOFF = "job_deadline_or_backoff", Family.CONFIG
    DEPENDENCY_UNREACHABLE = "dependency_unreachable", Family.DEPENDENCY
    CONNECTION_POOL_EXHAUSTED = "connection_pool_exhausted", Family.DEPENDENCY
    DATABASE_READ_ONLY = "database_read_only", Family.DEPENDENCY
    DATABASE_FAILOVER = "database_failover", Family.DEPENDENCY
    APP_LATENCY = "app_latency", Family.DEPENDENCY
    APP_ERROR = "app_error", Family.DEPENDENCY
    IMAGE_TAG_NOT_FOUND = "image_tag_not_found", Family.IMAGE
    IMAGE_NAME_WRONG = "image_name_wrong", Family.IMAGE
    IMAGE_REGISTRY_DNS_FAILURE = "image_registry_dns_failure", Family.IMAGE
    IMAGE_PULL_SECRET_MISSING = "image_pull_secret_missing", Family.IMAGE
    IMAGE_PULL_ERROR = "image_pull_error", Family.IMAGE
    IMAGE_ARCHITECTURE_MISMATCH = "image_architecture_mismatch", Family.IMAGE
    SERVICE_SELECTOR_MISMATCH = "service_selector_mismatch", Family.NETWORK
    SERVICE_TARGET_PORT_MISMATCH = "service_target_port_mismatch", Family.NETWORK
    SERVICE_PROTOCOL_MISMATCH = "service_protocol_mismatch", Family.NETWORK
    SERVICE_ADDRESS_MISMATCH = "service_address_mismatch", Family.NETWORK
    DNS_MISCONFIGURED = "dns_misconfigured", Family.NETWORK
    INGRESS_MISROUTE = "ingress_misroute", Family.NETWORK
    INGRESS_CLASS_NOT_FOUND = "ingress_class_not_found", Family.NETWORK
    GATEWAY_ROUTE_WRONG = "gateway_route_wrong", Family.NETWORK
    NETWORK_POLICY_BLOCKS = "network_policy_blocks", Family.NETWORK
    NETWORK_DEGRADED = "network_degraded", Family.NETWORK
    LIVENESS_PROBE_WRONG_PORT = "liveness_probe_wrong_port", Family.PROBE
    LIVENESS_PROBE_MISCONFIGURED = "liveness_probe_misconfigured", Family.PROBE
    LIVENESS_PROBE_TOO_AGGRESSIVE = "liveness_probe_too_aggressive", Family.PROBE
    READINESS_PROBE_WRONG_PORT = "readiness_probe_wrong_port", Family.PROBE
    READINESS_PROBE_MISCONFIGURED = "readiness_probe_misconfigured", Family.PROBE
    STARTUP_PROBE_MISSING = "startup_probe_missing", Family.PROBE
    NAMESPACE_QUOTA_EXCEEDED = "namespace_quota_exceeded", Family.QUOTA_RBAC
    QUOTA_REQUIRES_FIELD = "quota_requires_field", Family.QUOTA_RBAC
    LIMIT_RANGE_VIOLATION = "limit_range_violation", Family.QUOTA_RBAC
    RBAC_DENIED = "rbac_denied", Family.QUOTA_RBAC
    SERVICE_ACCOUNT_NOT_FOUND = "service_account_not_found", Family.QUOTA_RBAC
    ADMISSION_DENIED = "admission_denied", Family.QUOTA_RBAC
    POD_SECURITY_VIOLATION = "pod_security_violation", Family.QUOTA_RBAC
    BAD_RELEASE = "bad_release", Family.RELEASE
    ROLLOUT_STUCK = "rollout_stuck", Family.RELEASE
    GITOPS_SYNC_FAILED = "gitops_sync_failed", Family.RELEASE
    OOM_KILLED_LIMIT_TOO_LOW = "oom_killed_limit_too_low", Family.RESOURCES
    MEMORY_LEAK = "memory_leak", Family.RESOURCES
    NODE_MEMORY_PRESSURE_UNBOUNDED_POD = "node_memory_pressure_unbounded_pod", Family.RESOURCES
    CPU_THROTTLING_LIMIT_TOO_LOW = "cpu_throttling_limit_too_low", Family.RESOURCES
    CPU_OVERLOAD = "cpu_overload", Family.RESOURCES
    CPU_REQUEST_TOO_LARGE = "cpu_request_too_large", Family.RESOURCES
    MEMORY_REQUEST_TOO_LARGE = "memory_request_too_large", Family.RESOURCES
    INSUFFICIENT_GPU = "insufficient_gpu", Family.RESOURCES
    INSUFFICIENT_EXTENDED_RESOURCE = "insufficient_extended_resource", Family.RESOURCES
    NODE_POD_CAPACITY = "node_pod_capacity", Family.RESOURCES
    EPHEMERAL_STORAGE_EXCEEDED = "ephemeral_storage_exceeded", Family.RESOURCES
    NODE_SELECTOR_MISMATCH = "node_selector_mismatch", Family.SCHEDULING
    NODE_AFFINITY_MISMATCH = "node_affinity_mismatch", Family.SCHEDULING
    TAINT_NOT_TOLERATED = "taint_not_tolerated", Family.SCHEDULING
    NODE_CORDONED = "node_cordoned", Family.SCHEDULING
    POD_ANTI_AFFINITY_CONFLICT = "pod_anti_affinity_conflict", Family.SCHEDULING
    TOPOLOGY_SPREAD_UNSATISFIABLE = "topology_spread_unsatisfiable", Family.SCHEDULING
    PREEMPTED = "preempted", Family.SCHEDULING
    PDB_BLOCKS = "pdb_blocks", Family.SCHEDULING
    PVC_STORAGE_CLASS_NOT_FOUND = "pvc_storage_class_not_found", Family.STORAGE
    PVC_ACCESS_MODE_MISMATCH = "pvc_access_mode_mismatch", Family.STORAGE
    PVC_CAPACITY_MISMATCH = "pvc_capacity_mismatch", Family.STORAGE
    PVC_SELECTOR_MISMATCH = "pvc_selector_mismatch", Family.STORAGE
    PV_ALREADY_BOUND = "pv_already_bound", Family.STORAGE
    VOLUME_ATTACH_CONFLICT = "volume_attach_conflict", Family.STORAGE
    PVC_FULL = "pvc_full", Family.STORAGE
    VOLUME_PERMISSION_DENIED = "volume_permission_denied", Family.STORAGE
    NODE_NOT_READY = "node_not_ready", Family.INFRASTRUCTURE
    KUBELET_DOWN = "kubelet_down", Family.INFRASTRUCTURE
    CONTAINER_RUNTIME_DOWN = "container_runtime_down", Family.INFRASTRUCTURE
    KUBE_PROXY_DOWN = "kube_proxy_down", Family.INFRASTRUCTURE
    SCHEDULER_DOWN = "scheduler_down", Family.INFRASTRUCTURE
    CONTROL_PLANE_DOWN = "control_plane_down", Family.INFRASTRUCTURE
    NO_INCIDENT = "no_incident", Family.NONE
