"""Google Cloud Monitoring incidents, versions 1.0 to 1.2 of the webhook."""

from typing import Any

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.admission import KIND_LABELS
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Tags, Text, places
from tocsin_ingest.sources.reading import Moment, Sent, read, texts


class _Typed(Sent):
    type: Text = ""
    labels: Tags = Field(default_factory=dict)


class _Metadata(Sent):
    system_labels: Tags = Field(default_factory=dict)
    user_labels: Tags = Field(default_factory=dict)


class _Documentation(Sent):
    content: Text = ""
    subject: Text = ""
    links: list[dict[str, Any]] | None = None


class _Incident(Sent):
    state: str = Field(min_length=1)
    incident_id: Text = ""
    policy_name: Text = ""
    condition_name: Text = ""
    summary: Text = ""
    severity: Text = ""
    url: Text = ""
    project: Text = Field(default="", alias="scoping_project_id")
    resource_id: Text = ""
    resource_name: Text = ""
    started_at: Moment = None
    ended_at: Moment = None
    resource: _Typed | None = None
    metric: _Typed | None = None
    metadata: _Metadata | None = None
    policy_user_labels: Tags = Field(default_factory=dict)
    documentation: _Documentation | None = None


class _Payload(Sent):
    incident: _Incident


class GcpMonitoring:
    """Reads the one incident of a notification."""

    name = "gcp_monitoring"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a body."""
        incident = read(_Payload, delivery.payload, "a Cloud Monitoring notification").incident
        status = values.status(incident.state)
        labels = _labels(incident)
        return [
            Reading(
                title=incident.policy_name or incident.condition_name or "unnamed incident",
                status=status,
                severity=_severity(incident),
                summary=incident.summary,
                labels={**_where(incident, labels), **labels},
                annotations=_notes(incident),
                starts_at=incident.started_at,
                ends_at=incident.ended_at if status is AlertStatus.RESOLVED else None,
                links=values.links({"incident": incident.url, **_links(incident)}),
            )
        ]


def _labels(incident: _Incident) -> dict[str, str]:
    """The policy, the condition, and what they hold for: an incident's number changes each time."""
    resource, metric = incident.resource or _Typed(), incident.metric or _Typed()
    named = {
        "policy": incident.policy_name,
        "condition": incident.condition_name,
        "project": incident.project,
        "resource_type": resource.type,
        "resource_id": incident.resource_id,
        "resource_name": incident.resource_name,
        "metric": metric.type,
    }
    return metric.labels | resource.labels | texts(named)


def _where(incident: _Incident, labels: dict[str, str]) -> dict[str, str]:
    """What in Kubernetes it is about; the owner of a pod stands in the metadata."""
    found = places(labels)
    system = incident.metadata.system_labels if incident.metadata else {}
    owner = system.get("top_level_controller_name", "")
    kind = system.get("top_level_controller_type", "").lower()
    if owner:
        kinds = {known.lower(): label for label, known in KIND_LABELS.items()}
        found[kinds.get(kind, "workload")] = owner
    return found


def _severity(incident: _Incident) -> str:
    metadata = incident.metadata or _Metadata()
    told = (
        incident.severity,
        incident.policy_user_labels.get("severity"),
        metadata.user_labels.get("severity"),
        metadata.system_labels.get("severity"),
    )
    return next(filter(None, told), "")


def _notes(incident: _Incident) -> dict[str, str]:
    documentation = incident.documentation or _Documentation()
    said = {
        "incident_id": incident.incident_id,
        "description": documentation.content,
        "subject": documentation.subject,
    }
    user = incident.metadata.user_labels if incident.metadata else {}
    return user | incident.policy_user_labels | texts(said)


def _links(incident: _Incident) -> dict[str, str | None]:
    documentation = incident.documentation or _Documentation()
    return {
        str(one.get("display_name") or one.get("displayName") or "documentation"): url
        for one in documentation.links or []
        if isinstance(url := one.get("url"), str)
    }
