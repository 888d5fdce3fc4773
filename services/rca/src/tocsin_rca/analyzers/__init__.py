"""The causes that can be told without a model: one analyzer a file, each pure over a case."""

from collections.abc import Iterable
from typing import Protocol

from tocsin_contracts import Finding
from tocsin_kit.registry import Registry
from tocsin_rca.analyzers.admission import Admission
from tocsin_rca.analyzers.app_symptoms import AppSymptoms
from tocsin_rca.analyzers.arguments import Arguments
from tocsin_rca.analyzers.autoscaler_maximum import AutoscalerMaximum
from tocsin_rca.analyzers.autoscaler_metrics import AutoscalerMetrics
from tocsin_rca.analyzers.bad_release import BadRelease
from tocsin_rca.analyzers.certificate import Certificate
from tocsin_rca.analyzers.claim_binding import ClaimBinding
from tocsin_rca.analyzers.cluster_dns import ClusterDns
from tocsin_rca.analyzers.command import Command
from tocsin_rca.analyzers.config_value import ConfigValue
from tocsin_rca.analyzers.connection_pool import ConnectionPool
from tocsin_rca.analyzers.control_plane import ControlPlane
from tocsin_rca.analyzers.cpu_overload import CpuOverload
from tocsin_rca.analyzers.cpu_throttling import CpuThrottling
from tocsin_rca.analyzers.credentials import Credentials
from tocsin_rca.analyzers.cronjob import CronJobs
from tocsin_rca.analyzers.database_state import DatabaseState
from tocsin_rca.analyzers.devices import Devices
from tocsin_rca.analyzers.disruption_budget import DisruptionBudget
from tocsin_rca.analyzers.drift import Drift
from tocsin_rca.analyzers.ephemeral_storage import EphemeralStorage
from tocsin_rca.analyzers.gateway_route import GatewayRoute
from tocsin_rca.analyzers.gitops_sync import GitopsSync
from tocsin_rca.analyzers.image_architecture import ImageArchitecture
from tocsin_rca.analyzers.image_pull import ImagePull
from tocsin_rca.analyzers.image_tag import ImageTag
from tocsin_rca.analyzers.ingress_route import IngressRoute
from tocsin_rca.analyzers.init_container import InitContainer
from tocsin_rca.analyzers.isolation import Isolation
from tocsin_rca.analyzers.job_limits import JobLimits
from tocsin_rca.analyzers.limit_range import LimitRange
from tocsin_rca.analyzers.memory_leak import MemoryLeak
from tocsin_rca.analyzers.metric_anomaly import MetricAnomaly
from tocsin_rca.analyzers.namespace import Namespace
from tocsin_rca.analyzers.network_degraded import NetworkDegraded
from tocsin_rca.analyzers.network_policy import NetworkPolicy
from tocsin_rca.analyzers.no_incident import NoIncident
from tocsin_rca.analyzers.node_labels import NodeLabels
from tocsin_rca.analyzers.node_memory import NodeMemory
from tocsin_rca.analyzers.node_ready import NodeReady
from tocsin_rca.analyzers.node_services import NodeServices
from tocsin_rca.analyzers.oom_limit import OomLimit
from tocsin_rca.analyzers.out_of_memory import OutOfMemory
from tocsin_rca.analyzers.pod_capacity import PodCapacity
from tocsin_rca.analyzers.pod_dns import PodDns
from tocsin_rca.analyzers.pod_spread import PodSpread
from tocsin_rca.analyzers.port_conflict import PortConflict
from tocsin_rca.analyzers.preemption import Preemption
from tocsin_rca.analyzers.probe_listening import ProbeListening
from tocsin_rca.analyzers.probe_path import ProbePath
from tocsin_rca.analyzers.probe_port import ProbePort
from tocsin_rca.analyzers.probe_request import ProbeRequest
from tocsin_rca.analyzers.probe_timing import ProbeTiming
from tocsin_rca.analyzers.prometheus_rule import PrometheusRules
from tocsin_rca.analyzers.quota import Quota
from tocsin_rca.analyzers.rate_limit import RateLimit
from tocsin_rca.analyzers.rbac import Rbac
from tocsin_rca.analyzers.recent_change import RecentChange
from tocsin_rca.analyzers.reference import MissingReference
from tocsin_rca.analyzers.request_size import RequestSize
from tocsin_rca.analyzers.required_env import RequiredEnv
from tocsin_rca.analyzers.rollout_stuck import RolloutStuck
from tocsin_rca.analyzers.scaled_to_zero import ScaledToZero
from tocsin_rca.analyzers.service_account import ServiceAccount
from tocsin_rca.analyzers.service_address import ServiceAddress
from tocsin_rca.analyzers.service_port import ServicePort
from tocsin_rca.analyzers.service_selector import ServiceSelector
from tocsin_rca.analyzers.taints import Taints
from tocsin_rca.analyzers.traffic_spike import TrafficSpike
from tocsin_rca.analyzers.unreachable import Unreachable
from tocsin_rca.analyzers.volume_attach import VolumeAttach
from tocsin_rca.analyzers.volume_full import VolumeFull
from tocsin_rca.analyzers.volume_rights import VolumeRights
from tocsin_rca.evidence import Case
from tocsin_rca.evidence.considering import considered
from tocsin_rca.evidence.curing import cured


class Analyzer(Protocol):
    """Recognises one kind of fault."""

    @property
    def name(self) -> str:
        """What the registry and the folder of its sample call it."""

    @property
    def needs(self) -> str:
        """What it looks at, in one sentence for whoever is on call."""

    @property
    def proof(self) -> str:
        """What makes its finding, in one sentence; no two analyzers share it."""

    @property
    def against(self) -> str:
        """What contradicts it: what keeps it from a finding, or makes that less sure."""

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return what the case proves; nothing when it shows no such fault. No IO, no clock."""


BUILTIN: tuple[Analyzer, ...] = (
    OomLimit(),
    ImageTag(),
    ProbePort(),
    ProbePath(),
    ServiceSelector(),
    NodeLabels(),
    Taints(),
    PodSpread(),
    RequestSize(),
    Devices(),
    PodCapacity(),
    Preemption(),
    NetworkPolicy(),
    Isolation(),
    ServiceAddress(),
    ServicePort(),
    Unreachable(),
    ConnectionPool(),
    DatabaseState(),
    RateLimit(),
    Quota(),
    LimitRange(),
    Rbac(),
    ServiceAccount(),
    Admission(),
    AutoscalerMetrics(),
    AutoscalerMaximum(),
    TrafficSpike(),
    MemoryLeak(),
    OutOfMemory(),
    NodeMemory(),
    CpuThrottling(),
    CpuOverload(),
    EphemeralStorage(),
    DisruptionBudget(),
    NodeServices(),
    ControlPlane(),
    NodeReady(),
    PodDns(),
    IngressRoute(),
    GatewayRoute(),
    NetworkDegraded(),
    AppSymptoms(),
    BadRelease(),
    RolloutStuck(),
    GitopsSync(),
    NoIncident(),
    Credentials(),
    Certificate(),
    PortConflict(),
    Arguments(),
    VolumeRights(),
    RequiredEnv(),
    Command(),
    InitContainer(),
    MissingReference(),
    ImagePull(),
    ImageArchitecture(),
    ClaimBinding(),
    VolumeAttach(),
    VolumeFull(),
    ProbeRequest(),
    ProbeListening(),
    ProbeTiming(),
    ConfigValue(),
    ScaledToZero(),
    Namespace(),
    PrometheusRules(),
    CronJobs(),
    JobLimits(),
    MetricAnomaly(),
    RecentChange(),
    ClusterDns(),
    Drift(),
)


def load() -> Registry[Analyzer]:
    """Return the analyzers by name."""
    return Registry("analyzer", BUILTIN)


def analyze(case: Case, analyzers: Iterable[Analyzer]) -> tuple[Finding, ...]:
    """Return the findings of all analyzers, with the undo of a commit that explains one.

    Each says which other values were considered for its change.
    """
    return tuple(
        considered(case, cured(case, finding))
        for analyzer in analyzers
        for finding in analyzer.analyze(case)
    )
