"""Netdata Cloud webhooks: alerts, and nodes that can or cannot be reached."""

from pydantic import AliasChoices, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Text
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a Netdata notification"


class _Alert(Sent):
    name: str = Field(min_length=1, validation_alias=AliasChoices("alert", "alarm"))
    severity: str = Field(min_length=1, validation_alias=AliasChoices("severity", "status"))
    message: Text = ""
    info: Text = ""
    chart: Text = ""
    space: Text = ""
    node: Text = Field(default="", validation_alias=AliasChoices("node", "host", "hostname"))
    date: Moment = None
    context: Text = ""
    family: Text = ""
    kind: Text = Field(default="", alias="class")
    duration: Text = ""
    url: Text = Field(default="", validation_alias=AliasChoices("alert_url", "url"))


class _Reach(Sent):
    reachable: bool
    text: Text = ""


class _Node(Sent):
    host: str = Field(min_length=1)
    status: _Reach
    message: Text = ""
    severity: Text = ""
    url: Text = ""


class Netdata:
    """Reads both forms that one address gets."""

    name = "netdata"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a body."""
        payload = delivery.payload
        if isinstance(payload, dict) and isinstance(payload.get("status"), dict):
            return [_node(read(_Node, payload, WHAT))]
        return [_alert(read(_Alert, payload, WHAT))]


def _alert(sent: _Alert) -> Reading:
    status = values.status(sent.severity)
    over = status is AlertStatus.RESOLVED
    who = {"alert": sent.name, "chart": sent.chart, "space": sent.space, "node": sent.node}
    notes = {
        "info": sent.info,
        "context": sent.context,
        "family": sent.family,
        "class": sent.kind,
        "duration": sent.duration,
    }
    return Reading(
        title=sent.name,
        status=status,
        severity=sent.severity,
        summary=sent.message or sent.info,
        labels=texts(who),
        annotations=texts(notes),
        starts_at=None if over else sent.date,
        ends_at=sent.date if over else None,
        links=values.links({"alert": sent.url}),
    )


def _node(sent: _Node) -> Reading:
    return Reading(
        title=f"{sent.host} is unreachable",
        status=AlertStatus.RESOLVED if sent.status.reachable else AlertStatus.FIRING,
        severity=sent.severity,
        summary=sent.message or sent.status.text,
        labels={"node": sent.host, "alert": "reachability"},
        links=values.links({"node": sent.url}),
    )
