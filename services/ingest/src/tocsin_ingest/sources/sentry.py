"""Sentry: issues, alerts of events and metrics, errors, and the webhooks of its older plugin."""

import re
from typing import Annotated, Any

from pydantic import AliasChoices, AliasPath, BeforeValidator, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.fields import Loose, Tags, Text, named, places
from tocsin_ingest.sources.reading import Moment, read

WHAT = "a Sentry webhook"

_LINKED = re.compile(r"/issues/(\d+)(?:/|$)")

ELSEWHERE = frozenset({"installation", "comment", "seer"})
"""Resources whose webhooks tell of no problem."""

ISSUE_FIRES = frozenset({"created", "unresolved", "triggered"})
"""What happens to an issue that is wrong; who it is assigned to, say, is no news of it."""

ISSUE_OPENS = "created"


def _project(given: Any) -> Any:
    return given.get("slug") or given.get("name") or "" if isinstance(given, dict) else str(given)


Project = Annotated[str, BeforeValidator(_project)]


class _Issue(Loose):
    id: Text = Field(min_length=1)
    title: str = Field(min_length=1)
    culprit: Text = ""
    level: Text = ""
    project: Project = ""
    first_seen: Moment = Field(default=None, alias="firstSeen")
    last_seen: Moment = Field(default=None, alias="lastSeen")
    url: Text = Field(default="", validation_alias=AliasChoices("web_url", "permalink"))


class _Event(Loose):
    issue_id: Text = ""
    issue_url: Text = ""
    title: str = Field(min_length=1)
    culprit: Text = ""
    level: Text = ""
    project: Project = ""
    environment: Text = ""
    at: Moment = Field(default=None, validation_alias=AliasChoices("timestamp", "datetime"))
    tags: Tags = Field(default_factory=dict)
    url: Text = Field(default="", alias="web_url")


class _Metric(Loose):
    rule: Text = Field(validation_alias=AliasPath("alert_rule", "id"), min_length=1)
    name: str = Field(validation_alias=AliasPath("alert_rule", "name"), min_length=1)
    started_at: Moment = Field(default=None, alias="date_started")
    closed_at: Moment = Field(default=None, alias="date_closed")
    projects: list[str] = Field(default_factory=list)


class _Data(Loose):
    issue: _Issue | None = None
    event: _Event | None = None
    error: _Event | None = None
    metric: _Metric | None = Field(default=None, alias="metric_alert")
    text: Text = Field(default="", alias="description_text")
    web_url: Text = ""


class _Webhook(Loose):
    action: str = Field(min_length=1)
    data: _Data


class _Logged(Loose):
    """The event inside a webhook of the plugin."""

    title: Text = ""
    at: Moment = Field(default=None, validation_alias=AliasChoices("timestamp", "received"))
    environment: Text = ""
    tags: Tags = Field(default_factory=dict)


class _Plugin(Loose):
    id: Text = Field(min_length=1)
    level: Text = ""
    message: Text = ""
    culprit: Text = ""
    project: Text = Field(default="", validation_alias=AliasChoices("project_slug", "project"))
    url: Text = Field(min_length=1)
    event: _Logged = Field(default_factory=_Logged)


class Sentry:
    """Reads each resource by its own part of the body."""

    name = "sentry"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a request; none where the condition did not change."""
        if delivery.headers.get("sentry-hook-resource") in ELSEWHERE:
            return []
        if not (isinstance(delivery.payload, dict) and "action" in delivery.payload):
            return [_plugin(read(_Plugin, delivery.payload, WHAT))]
        sent = read(_Webhook, delivery.payload, WHAT)
        data = sent.data
        if data.metric:
            return [_metric(data.metric, sent)]
        if event := data.event or data.error:
            return [_event(event)]
        if not data.issue:
            raise BadPayloadError(f"not {WHAT}: data.issue: Field required, or another resource")
        return _issue(data.issue, sent.action)


def _issue(issue: _Issue, action: str) -> list[Reading]:
    over = values.status(action) is AlertStatus.RESOLVED
    if not over and action not in ISSUE_FIRES:
        return []
    return [
        Reading(
            title=issue.title,
            status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
            severity=issue.level,
            summary=issue.culprit,
            labels=named(alertname=issue.title, project=issue.project),
            starts_at=issue.first_seen if action == ISSUE_OPENS else None,
            links=values.links({"source": issue.url}),
            key=f"issue {issue.id}",
        )
    ]


def _event(event: _Event) -> Reading:
    return Reading(
        title=event.title,
        severity=event.level,
        summary=event.culprit,
        labels=named(alertname=event.title, project=event.project, environment=event.environment)
        | event.tags
        | places(event.tags),
        starts_at=event.at,
        links=values.links({"source": event.url}),
        key=f"issue {_issue_id(event)}",
    )


def _issue_id(event: _Event) -> str:
    linked = _LINKED.search(event.issue_url) or _LINKED.search(event.url)
    if found := event.issue_id or (linked[1] if linked else ""):
        return found
    raise BadPayloadError(f"not {WHAT}: issue_id: Field required, or issue_url")


def _metric(metric: _Metric, sent: _Webhook) -> Reading:
    return Reading(
        title=metric.name,
        status=values.status(sent.action),
        severity=sent.action,
        summary=sent.data.text,
        labels=named(alertname=metric.name, project=",".join(sorted(metric.projects))),
        starts_at=metric.started_at,
        ends_at=metric.closed_at,
        links=values.links({"source": sent.data.web_url}),
        key=f"rule {metric.rule}",
    )


def _plugin(sent: _Plugin) -> Reading:
    title = sent.event.title or sent.message or sent.culprit
    return Reading(
        title=title or f"Sentry issue {sent.id}",
        severity=sent.level,
        summary=sent.message or sent.culprit,
        labels=named(alertname=title, project=sent.project, environment=sent.event.environment)
        | sent.event.tags
        | places(sent.event.tags),
        starts_at=sent.event.at,
        links=values.links({"source": sent.url}),
        key=f"issue {sent.id}",
    )
