"""Which labels tell incidents apart where no workload does: those that say where and what."""

from dataclasses import dataclass

PLACES = (
    *("cluster", "exported_namespace", "namespace", "environment", "env", "stage", "tenant"),
    *("region", "zone", "datacenter", "dc", "site", "node", "nodename", "host", "hostname"),
    *("server", "exported_service", "service", "application", "app", "component", "job"),
    *("database", "datname", "queue", "topic", "consumergroup", "domain", "target"),
    *("persistentvolumeclaim", "persistentvolume", "ingress", "horizontalpodautoscaler"),
    *("poddisruptionbudget", "resourcequota", "certificate"),
)
"""Labels that say where or what an alert is about, and outlast any restart."""

PASSING = (
    *("pod", "exported_pod", "pod_name", "pod_uid", "pod_ip", "uid", "id", "container_id"),
    *("image_id", "instance", "exported_instance", "endpoint", "address", "ip", "host_ip"),
    *("pod_template_hash", "controller_revision_hash", "severity"),
)
"""Labels that a restart or a change of the same trouble changes."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Which labels tell incidents apart, and which never do."""

    places: tuple[str, ...] = PLACES
    passing: frozenset[str] = frozenset(PASSING)


MARKS = Marks()
