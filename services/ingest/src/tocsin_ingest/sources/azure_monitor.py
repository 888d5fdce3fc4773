"""Azure Monitor alerts: the common schema, and the older ones of metrics, logs and activity."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import AliasChoices, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.azure_context import (
    budget_of,
    condition_of,
    dimensions_of,
    links_of,
)
from tocsin_ingest.sources.fields import Text, tags
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "an Azure Monitor alert"
US_DATE = "%m/%d/%Y %I:%M:%S %p"


class _Essentials(Sent):
    rule: Text = Field(default="", alias="alertRule")
    condition: Text = Field(default="", alias="monitorCondition")
    severity: Text = ""
    description: Text = ""
    fired: Moment = Field(default=None, alias="firedDateTime")
    resolved: Moment = Field(default=None, alias="resolvedDateTime")
    targets: list[str] | None = Field(default=None, alias="alertTargetIDs")
    items: list[str] | None = Field(default=None, alias="configurationItems")
    signal: Text = Field(default="", alias="signalType")
    service: Text = Field(default="", alias="monitoringService")
    alert_id: Text = Field(default="", alias="alertId")
    investigation: Text = Field(default="", alias="investigationLink")


class _Common(Sent):
    essentials: _Essentials
    context: dict[str, Any] | None = Field(default=None, alias="alertContext")
    custom: dict[str, Any] | None = Field(default=None, alias="customProperties")


class _Context(Sent):
    name: str = Field(
        min_length=1, validation_alias=AliasChoices("name", "operationName", "eventName")
    )
    description: Text = ""
    severity: Text = ""
    at: Moment = Field(default=None, validation_alias=AliasChoices("timestamp", "eventTimestamp"))
    resource: Text = Field(default="", alias="resourceId")
    link: Text = Field(default="", alias="portalLink")


class _Classic(Sent):
    status: str = Field(min_length=1)
    context: dict[str, Any]


class _LogAlert(Sent):
    name: str = Field(alias="AlertRuleName", min_length=1)
    severity: Text = Field(default="", alias="Severity")
    description: Text = Field(default="", alias="Description")
    until: Text = Field(default="", alias="SearchIntervalEndtimeUtc")
    link: Text = Field(default="", alias="LinkToSearchResults")
    workspace: Text = Field(default="", alias="WorkspaceId")


class AzureMonitor:
    """Reads the one alert that an action group sends at a time."""

    name = "azure_monitor"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a body."""
        payload = delivery.payload if isinstance(delivery.payload, Mapping) else {}
        data = payload.get("data", payload)
        inner = data if isinstance(data, Mapping) else {}
        if "context" in inner:
            return [_classic(read(_Classic, inner, WHAT))]
        if "AlertRuleName" in inner:
            return [_log_alert(read(_LogAlert, inner, WHAT))]
        return [_common(read(_Common, data, WHAT))]


def _common(sent: _Common) -> Reading:
    told, context = sent.essentials, sent.context or {}
    status = values.status(told.condition)
    rule = told.rule or budget_of(context)
    if not rule:
        raise BadPayloadError(f"not {WHAT}: data.essentials.alertRule: it is empty")
    prometheus = tags(context.get("labels"))
    labels = {
        **prometheus,
        **dimensions_of(context, told.targets or []),
        "alert_rule": rule,
        **texts({"signal": told.signal, "monitoring_service": told.service}),
        **texts({"targets": " ".join(sorted(told.targets or []))}),
    }
    return Reading(
        title=rule,
        status=status,
        severity=told.severity,
        scale=values.AZURE,
        summary=told.description or condition_of(context),
        labels=labels,
        annotations=_notes(sent),
        starts_at=told.fired,
        ends_at=told.resolved if status is AlertStatus.RESOLVED else None,
        links=values.links({"investigation": told.investigation, **links_of(context)}),
    )


def _notes(sent: _Common) -> dict[str, str]:
    told, context = sent.essentials, sent.context or {}
    items = {"configuration_items": " ".join(told.items or []), "alert_id": told.alert_id}
    return tags(context.get("annotations")) | texts(sent.custom or {}) | texts(items)


def _classic(sent: _Classic) -> Reading:
    """Metric alerts before the common schema, and activity logs: the status stands outside."""
    context = sent.context.get("activityLog", sent.context)
    told = read(_Context, context, WHAT)
    over = values.status(sent.status) is AlertStatus.RESOLVED
    return Reading(
        title=told.name,
        status=values.status(sent.status),
        severity=told.severity,
        scale=values.AZURE,
        summary=told.description or condition_of(context),
        labels={
            **dimensions_of(context, [told.resource]),
            "alert_rule": told.name,
            **texts({"targets": told.resource}),
        },
        starts_at=None if over else told.at,
        ends_at=told.at if over else None,
        links=values.links({"portal": told.link}),
    )


def _log_alert(told: _LogAlert) -> Reading:
    return Reading(
        title=told.name,
        severity=told.severity,
        scale=values.AZURE,
        summary=told.description,
        labels={"alert_rule": told.name, **texts({"workspace": told.workspace})},
        starts_at=_us_time(told.until),
        links=values.links({"results": told.link}),
    )


def _us_time(text: str) -> datetime | None:
    """Log alerts write dates as in the United States, in UTC; another form says nothing."""
    try:
        return datetime.strptime(text, US_DATE).replace(tzinfo=UTC)
    except ValueError:
        return None
