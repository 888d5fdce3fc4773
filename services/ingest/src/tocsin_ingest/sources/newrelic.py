"""New Relic: issues of workflows, and the incidents of the notification channels before them."""

from typing import Any

from pydantic import AliasChoices, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Tags, Text, flat, named, places, tags
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a New Relic notification"


class _Issue(Sent):
    id: Text = Field(min_length=1, validation_alias=AliasChoices("issueid", "incidentid", "id"))
    title: str = Field(min_length=1, validation_alias=AliasChoices("title", "conditionname"))
    state: str = Field(
        min_length=1, validation_alias=AliasChoices("state", "currentstate", "eventtype")
    )
    event_type: Text = Field(default="", alias="eventtype")
    priority: Text = Field(default="", validation_alias=AliasChoices("priority", "severity"))
    details: Text = Field(default="", validation_alias=AliasChoices("details", "description"))
    policy: Text = Field(default="", alias="policyname")
    condition: Text = Field(default="", alias="conditionname")
    tags: Tags = Field(default_factory=dict)
    targets: list[Any] | str = ""
    created_at: Moment = Field(default=None, alias="createdat")
    updated_at: Moment = Field(default=None, alias="updatedat")
    closed_at: Moment = Field(default=None, alias="closedat")
    timestamp: Moment = None
    url: Text = Field(default="", validation_alias=AliasChoices("issueurl", "incidenturl"))
    runbook_url: Text = Field(default="", alias="runbookurl")
    policy_url: Text = Field(default="", alias="policyurl")


class NewRelic:
    """Reads the documented fields under any spelling."""

    name = "newrelic"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one issue of a request."""
        said = flat(delivery.payload, WHAT)
        issue = read(_Issue, said, WHAT)
        words = (issue.state, issue.event_type.rpartition("_")[2])
        over = AlertStatus.RESOLVED in map(values.status, words)
        opens = issue.event_type.upper().endswith("OPEN") or issue.state.lower() == "open"
        known = places(texts(said)) | _labels(issue)
        return [
            Reading(
                title=issue.title,
                status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
                severity=issue.priority,
                summary=issue.details,
                labels=named(alertname=issue.title, policy=issue.policy, condition=issue.condition)
                | known
                | places(known),
                starts_at=issue.created_at or (issue.timestamp if opens else None),
                ends_at=(issue.closed_at or issue.updated_at or issue.timestamp) if over else None,
                links=values.links(
                    {
                        "source": issue.url,
                        "runbook": issue.runbook_url,
                        "policy": issue.policy_url,
                    }
                ),
                key=issue.id,
            )
        ]


def _labels(issue: _Issue) -> dict[str, str]:
    """Return the tags of an issue, and the labels of all that it is about."""
    found = dict(issue.tags)
    for target in issue.targets:
        if isinstance(target, dict):
            found |= tags(target.get("labels"))
    return found
