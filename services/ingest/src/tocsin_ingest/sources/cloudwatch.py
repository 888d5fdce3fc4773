"""Amazon CloudWatch alarms and whatever else a topic of Amazon SNS carries."""

from itertools import islice
from typing import Any

from pydantic import AliasChoices, Field

from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources import generic, sns
from tocsin_ingest.sources.eventbridge import event_reading, is_event
from tocsin_ingest.sources.fields import MOST_ALERTS, Text, moment_or_none, tags
from tocsin_ingest.sources.lambda_alarm import alarm_reading, alarm_told
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a CloudWatch alarm or a message of SNS"


class _Alarm(Sent):
    name: str = Field(alias="AlarmName", min_length=1)
    arn: Text = Field(default="", alias="AlarmArn")
    description: Text = Field(default="", alias="AlarmDescription")
    account: Text = Field(default="", alias="AWSAccountId")
    region: Text = Field(default="", alias="Region")
    state: Text = Field(default="ALARM", alias="NewStateValue")
    reason: Text = Field(default="", alias="NewStateReason")
    changed: Moment = Field(default=None, alias="StateChangeTime")
    rule: Text = Field(default="", alias="AlarmRule")
    severity: Text = Field(default="", validation_alias=AliasChoices("Severity", "Priority"))
    trigger: dict[str, Any] | None = Field(default=None, alias="Trigger")


class CloudWatch:
    """Reads alarms out of every envelope that AWS puts around them."""

    name = "cloudwatch"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return every alarm of a body; a confirmation of a subscription has none."""
        found = (
            reading
            for message in sns.messages(delivery.payload)
            for reading in _readings(message, wrapped=message.content is not delivery.payload)
        )
        return list(islice(found, MOST_ALERTS))


def _readings(message: sns.Message, *, wrapped: bool) -> list[Reading]:
    content = message.content
    if isinstance(content, dict) and "alarmData" in content:
        return [alarm_reading(content)]
    if isinstance(content, dict) and is_event(content):
        return [event_reading(content)]
    if not wrapped or (isinstance(content, dict) and "AlarmName" in content):
        return [_alarm(read(_Alarm, content, WHAT))]
    return _other(message)


def _other(message: sns.Message) -> list[Reading]:
    """A message that is no alarm: JSON of any shape, or a text under its subject."""
    if isinstance(message.content, dict | list):
        return generic.readings(message.content)
    text = str(message.content or "").strip()
    title = message.subject or text.partition("\n")[0]
    if not title:
        raise BadPayloadError(f"not {WHAT}: Message: it is empty, and so is Subject")
    return [
        Reading(
            title=title,
            summary=text,
            labels={"topic": message.topic, "subject": title},
            starts_at=moment_or_none(message.at),
        )
    ]


def _alarm(alarm: _Alarm) -> Reading:
    return alarm_told(
        {"alarm": alarm.name, "account": alarm.account, "region": alarm.region},
        _metric(alarm.trigger or {}),
        {"reason": alarm.reason, "rule": alarm.rule, "state": alarm.state},
        summary=alarm.description or alarm.reason,
        changed=alarm.changed,
        key=alarm.arn,
        severity=alarm.severity,
    )


def _metric(trigger: dict[str, Any]) -> dict[str, str]:
    """What an alarm watches; its dimensions tell where that is."""
    watched = {"metric": trigger.get("MetricName"), "metric_namespace": trigger.get("Namespace")}
    return tags(trigger.get("Dimensions")) | texts(watched)
