"""Grafana: unified alerting, and the legacy alerting before it."""

from pydantic import Field

from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources import alertmanager
from tocsin_ingest.sources.fields import Tags, Text
from tocsin_ingest.sources.reading import Sent, read

SAYS_NOTHING = frozenset({"paused", "pending", "unknown"})
"""States of a legacy rule in which nobody knows whether its condition holds."""


class _Member(alertmanager.Member):
    labels: dict[str, str]
    fingerprint: Text = ""
    silence_url: Text = Field(default="", alias="silenceURL")
    dashboard_url: Text = Field(default="", alias="dashboardURL")
    panel_url: Text = Field(default="", alias="panelURL")


class _Notification(alertmanager.Group):
    alerts: list[_Member]


class _Match(Sent):
    metric: Text = ""
    value: Text = ""


class _Rule(Sent):
    name: str = Field(alias="ruleName", min_length=1)
    state: str = Field(min_length=1)
    id: Text = Field(default="", alias="ruleId")
    url: Text = Field(default="", alias="ruleUrl")
    message: Text = ""
    tags: Tags = Field(default_factory=dict)
    matches: list[_Match] | None = Field(default=None, alias="evalMatches")


class Grafana:
    """Reads both forms; a legacy rule is one alert, however many series of it match."""

    name = "grafana"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return every alert of a group notification, or the one of a legacy rule."""
        if isinstance(delivery.payload, dict) and "alerts" in delivery.payload:
            return _group(delivery)
        rule = read(_Rule, delivery.payload, "a Grafana notification")
        return [] if rule.state.lower() in SAYS_NOTHING else [_legacy(rule)]


def _group(delivery: Delivery) -> list[Reading]:
    sent = read(_Notification, delivery.payload, "a Grafana notification")
    alertmanager.refuse_nothing(sent.alerts, sent, "a Grafana notification")
    if any(not (alert.labels or alert.fingerprint) for alert in sent.alerts):
        raise BadPayloadError("not a Grafana notification: an alert without labels and fingerprint")
    return [
        alertmanager.reading(
            alert,
            sent,
            delivery.received_at,
            {
                "source": alert.generator_url,
                "panel": alert.panel_url,
                "dashboard": alert.dashboard_url,
                "silence": alert.silence_url,
                "sender": sent.external_url,
            },
            key=alert.fingerprint,
        )
        for alert in sent.alerts
    ]


def _legacy(rule: _Rule) -> Reading:
    """Return a rule's alert; what matches is not its identity: when it is over, nothing matches."""
    matches = rule.matches or []
    return Reading(
        title=rule.name,
        status=values.status(rule.state),
        severity=rule.tags.get("severity", ""),
        scale=values.SEVS,
        summary=rule.message,
        labels={"alertname": rule.name, **rule.tags},
        annotations={one.metric: one.value for one in matches if one.metric and one.value},
        links=values.links({"source": rule.url}),
        key=f"rule {rule.id or rule.name}",
    )
