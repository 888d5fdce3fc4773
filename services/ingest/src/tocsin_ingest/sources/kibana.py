"""Kibana's webhook connector: a body that an operator made of its action variables."""

from html import unescape

from pydantic import AliasChoices, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Text, flat, places
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a Kibana alert"


class _Alert(Sent):
    name: str = Field(
        min_length=1,
        validation_alias=AliasChoices("rulename", "name", "alertname", "title", "subject"),
    )
    message: Text = Field(
        default="",
        validation_alias=AliasChoices("message", "contextmessage", "contextreason", "reason"),
    )
    rule: Text = Field(default="", alias="ruleid")
    alert: Text = Field(default="", validation_alias=AliasChoices("alertid", "alertidentifier"))
    instance: Text = Field(default="", alias="alertinstanceid")
    status: Text = Field(
        default="", validation_alias=AliasChoices("status", "alertstate", "alertstatus", "state")
    )
    group: Text = Field(
        default="", validation_alias=AliasChoices("alertactiongroup", "actiongroup")
    )
    severity: Text = Field(
        default="",
        validation_alias=AliasChoices("severity", "contextseverity", "contextruleseverity"),
    )
    since: Moment = Field(
        default=None, validation_alias=AliasChoices("alertstart", "kibanaalertstart", "startsat")
    )
    date: Moment = Field(default=None, validation_alias=AliasChoices("date", "timestamp"))
    details_url: Text = Field(
        default="", validation_alias=AliasChoices("contextalertdetailsurl", "alertdetailsurl")
    )
    rule_url: Text = Field(
        default="", validation_alias=AliasChoices("ruleurl", "kibanaurl", "url", "link")
    )


class Kibana:
    """Reads the documented variables under any spelling; their values may come HTML-escaped."""

    name = "kibana"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a request: who it is, its rule and what the rule calls it say."""
        said = flat(delivery.payload, WHAT)
        alert = read(_Alert, said, WHAT)
        over = AlertStatus.RESOLVED in map(values.status, (alert.status, alert.group))
        name = unescape(alert.name)
        ids = [one for one in (alert.rule, alert.alert, alert.instance) if one]
        return [
            Reading(
                title=name,
                status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
                severity=alert.severity,
                summary=unescape(alert.message),
                labels={"alertname": name} | places(texts(said)),
                starts_at=alert.since,
                ends_at=alert.date if over else None,
                links=values.links({"source": alert.details_url, "rule": alert.rule_url}),
                key="|".join(ids),
            )
        ]
