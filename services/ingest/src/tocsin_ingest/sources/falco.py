"""Falco alerts, from Falco itself or from Falcosidekick."""

from typing import Any

from pydantic import Field

from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Text, moment_or_none
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

_WHERE = {
    "namespace": ("k8s.ns.name", "ka.target.namespace"),
    "pod": ("k8s.pod.name", "ka.target.pod.name"),
    "deployment": ("k8s.deployment.name",),
    "container": ("container.name",),
    "cluster": ("k8s.cluster.name", "cluster", "k8s_cluster"),
}


class _Event(Sent):
    rule: str = Field(min_length=1)
    priority: Text = ""
    output: Text = ""
    time: Moment = None
    hostname: Text = ""
    source: Text = ""
    tags: list[str] | None = None
    fields: dict[str, Any] | None = Field(default=None, alias="output_fields")


class Falco:
    """Reads the rule, the priority, and where the event happened."""

    name = "falco"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of an event; nothing of Falco is ever resolved."""
        event = read(_Event, delivery.payload, "a Falco event")
        fields = texts(event.fields or {})
        at = event.time or moment_or_none((event.fields or {}).get("evt.time"))
        return [
            Reading(
                title=event.rule,
                severity=event.priority,
                summary=event.output,
                labels=_labels(event, fields),
                annotations=fields | texts({"tags": ", ".join(event.tags or [])}),
                starts_at=at,
            )
        ]


def _labels(event: _Event, fields: dict[str, str]) -> dict[str, str]:
    """The rule and the place: processes and files differ from one event to the next."""
    where = {
        ours: next((fields[name] for name in theirs if name in fields), "")
        for ours, theirs in _WHERE.items()
    }
    return texts({"rule": event.rule, "source": event.source, "hostname": event.hostname, **where})
