"""The form in which CloudWatch hands an alarm to EventBridge and to a Lambda function."""

from collections.abc import Mapping
from datetime import datetime
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
    return alarm_told(
        {"alarm": alarm.name, "account": read_event.account, "region": read_event.region},
        _metric(alarm.configuration),
        {
            "reason": state.reason,
            "state": state.value,
            "rule": alarm.configuration.get("alarmRule"),
        },
        summary=str(alarm.configuration.get("description") or state.reason),
        changed=state.timestamp or read_event.time,
        key=read_event.arn,
    )


def alarm_told(
    who: Mapping[str, str],
    metric: Mapping[str, str],
    notes: Mapping[str, Any],
    *,
    summary: str,
    changed: datetime | None,
    key: str,
    severity: str = "",
) -> Reading:
    """Return an alarm, in whatever form it came: `who` names it, `notes` hold its state."""
    status = values.status(str(notes["state"]))
    over = status is AlertStatus.RESOLVED
    labels = {**metric, **texts(dict(who))}
    return Reading(
        title=who["alarm"],
        status=status,
        severity=severity,
        summary=summary,
        labels={**where(labels), **labels},
        annotations=texts(dict(notes)),
        starts_at=None if over else changed,
        ends_at=changed if over else None,
        key=key,
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
