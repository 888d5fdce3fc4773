"""Kubernetes events, of core/v1 and events.k8s.io/v1, as exporters forward them."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import AliasChoices, Field

from tocsin_ingest.admission import KIND_LABELS
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import MOST_ALERTS, Text
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a Kubernetes event"

_LABELS = {kind.lower(): label for label, kind in KIND_LABELS.items()} | {
    "pod": "pod",
    "service": "service",
    "node": "node",
}
_CONTAINER = re.compile(r"\{(?P<name>[^{}]+)\}$")
_REPLICA_SET = re.compile(r"(?P<owner>.+)-[a-z0-9]{8,10}")
_CLUSTER_WIDE = frozenset(("node", "namespace", "persistentvolume"))
"""Kinds whose events lie in a namespace that says nothing of them."""


class _Object(Sent):
    kind: str = Field(min_length=1)
    name: str = Field(min_length=1)
    namespace: Text = ""
    field_path: Text = Field(default="", alias="fieldPath")


class _Metadata(Sent):
    namespace: Text = ""
    created: Moment = Field(default=None, alias="creationTimestamp")


class _Event(Sent):
    about: _Object = Field(validation_alias=AliasChoices("involvedObject", "regarding"))
    reason: str = Field(min_length=1)
    message: Text = Field(default="", validation_alias=AliasChoices("message", "note"))
    type: Text = Field(default="", validation_alias=AliasChoices("type", "severity"))
    metadata: _Metadata = Field(default_factory=_Metadata)
    first: Moment = Field(
        default=None, validation_alias=AliasChoices("firstTimestamp", "deprecatedFirstTimestamp")
    )
    at: Moment = Field(default=None, alias="eventTime")
    cluster: Text = Field(default="", validation_alias=AliasChoices("clusterName", "cluster"))
    component: Text = Field(
        default="", validation_alias=AliasChoices("reportingComponent", "reportingController")
    )
    instance: Text = Field(default="", alias="reportingInstance")


class KubernetesEvent:
    """Reads one event, a list of them, or what a watch tells of one."""

    name = "kubernetes_event"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return one alert for each event; events are never resolved."""
        return [_reading(read(_Event, event, WHAT)) for event in _events(delivery.payload)]


def is_event(content: Mapping[str, Any]) -> bool:
    """Return whether an object is an event of Kubernetes."""
    return "reason" in content and ("involvedObject" in content or "regarding" in content)


def _events(payload: Any) -> list[Any]:
    if isinstance(payload, dict) and isinstance(payload.get("object"), dict):
        return [payload["object"]]
    items = payload.get("items") if isinstance(payload, dict) else payload
    return items[:MOST_ALERTS] if isinstance(items, list) and items else [payload]


def _reading(event: _Event) -> Reading:
    notes = {"component": event.component, "instance": event.instance}
    return Reading(
        title=event.reason,
        severity=event.type,
        summary=event.message,
        labels=_labels(event),
        annotations=texts(notes),
        starts_at=event.first or event.at or event.metadata.created,
    )


def _labels(event: _Event) -> dict[str, str]:
    """Who it happened to and why: not how often, so that a repeat is the same alert."""
    about = event.about
    kind = about.kind.lower()
    wide = kind in _CLUSTER_WIDE
    container = _CONTAINER.search(about.field_path)
    owner = _REPLICA_SET.fullmatch(about.name) if kind == "replicaset" else None
    return texts(
        {
            "reason": event.reason,
            "kind": about.kind,
            "name": about.name,
            "deployment": owner["owner"] if owner else "",
            _LABELS.get(kind, "name"): about.name,
            "namespace": "" if wide else about.namespace or event.metadata.namespace,
            "container": container["name"] if container else "",
            "cluster": event.cluster,
        }
    )
