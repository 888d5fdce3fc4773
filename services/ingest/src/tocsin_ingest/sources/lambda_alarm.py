"""The form in which CloudWatch hands an alarm to EventBridge and to a Lambda function."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Reading
from tocsin_ingest.sources.fields import Text, places
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

CONTAINERS = "ContainerInsights"
"""The metrics in which PodName is the name of a pod's owner."""


class _State(Sent):
    value: str = Field(min_length=1)
    reason: Text = ""
    timestamp: Moment = None


class _Alarm(Sent):
    name: str = Field(alias="alarmName", min_length=1)
    state: _State
    configuration: dict[str, Any] = Field(default_factory=dict)


class _Event(Sent):
    alarm: _Alarm = Field(alias="alarmData")
    arn: Text = Field(default="", alias="alarmArn")
    account: Text = Field(default="", alias="accountId")
    region: Text = ""
    time: Moment = None


def alarm_reading(event: Mapping[str, Any]) -> Reading:
    """Return the alarm of an event; BadPayloadError names what it lacks."""
    read_event = read(_Event, event, "a CloudWatch alarm")
    alarm, state = read_event.alarm, read_event.alarm.state
    over = values.status(state.value) is AlertStatus.RESOLVED
    changed = state.timestamp or read_event.time
    who = {"alarm": alarm.name, "account": read_event.account, "region": read_event.region}
    labels = _metric(alarm.configuration) | texts(who)
    notes = {
        "reason": state.reason,
        "state": state.value,
        "rule": alarm.configuration.get("alarmRule"),
    }
    return Reading(
        title=alarm.name,
        status=values.status(state.value),
        summary=str(alarm.configuration.get("description") or state.reason),
        labels={**where(labels), **labels},
        annotations=texts(notes),
        starts_at=None if over else changed,
        ends_at=changed if over else None,
        key=read_event.arn,
    )


def where(labels: Mapping[str, str]) -> dict[str, str]:
    """Return what in Kubernetes the dimensions of a metric name, as we name it."""
    found = places(labels)
    if labels.get("metric_namespace", "").startswith(CONTAINERS) and "pod" in found:
        found["workload"] = found.pop("pod")
    return found


def _metric(configuration: Mapping[str, Any]) -> dict[str, str]:
    """The metric of an alarm that watches a single one."""
    metrics = configuration.get("metrics")
    watched = [
        stat["metric"]
        for one in (metrics if isinstance(metrics, list) else [])
        if isinstance(one, dict)
        and isinstance(stat := one.get("metricStat"), dict)
        and isinstance(stat.get("metric"), dict)
    ]
    if len(watched) != 1:
        return {}
    (metric,) = watched
    dimensions = metric.get("dimensions")
    where = texts(dimensions) if isinstance(dimensions, dict) else {}
    named = {"metric": metric.get("name"), "metric_namespace": metric.get("namespace")}
    return where | texts(named)
