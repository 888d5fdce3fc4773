"""Dynatrace problem notifications, and the events of its workflows."""

from typing import Any

from pydantic import AliasChoices, Field

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Tags, Text, flat, named, places
from tocsin_ingest.sources.reading import Moment, Sent, read, texts

WHAT = "a Dynatrace problem"

MERGED = "merged"
"""The state of a problem that goes on as a part of another one."""

ENTITIES = {
    "CLOUD_APPLICATION": "workload",
    "CLOUD_APPLICATION_NAMESPACE": "namespace",
    "CLOUD_APPLICATION_INSTANCE": "pod",
    "KUBERNETES_CLUSTER": "cluster",
}
"""What Dynatrace calls the things of Kubernetes."""


DETAILS = ("problemdetailsjsonv2", "problemdetailsjson", "problemdetails")


def _anywhere(of_details: str, *others: str) -> AliasChoices:
    """Return where a field may stand: by itself, or in the details of the problem."""
    return AliasChoices(*others, *(part + of_details for part in DETAILS))


class _Problem(Sent):
    id: Text = Field(
        validation_alias=AliasChoices("pid", "problemid", "displayid", "eventid"), min_length=1
    )
    title: str = Field(
        min_length=1, validation_alias=AliasChoices("problemtitle", "title", "eventname")
    )
    state: str = Field(
        min_length=1, validation_alias=AliasChoices("state", "eventstatus", "status")
    )
    severity: Text = Field(
        default="",
        validation_alias=_anywhere(
            "severitylevel", "problemseverity", "severity", "severitylevel", "eventcategory"
        ),
    )
    impact: Text = Field(default="", alias="problemimpact")
    text: Text = Field(
        default="", validation_alias=AliasChoices("problemdetailstext", "eventdescription")
    )
    tags: Tags = Field(default_factory=dict, validation_alias=AliasChoices("tags", "entitytags"))
    entities: list[Any] | str = Field(default="", alias="impactedentities")
    url: Text = Field(default="", validation_alias=AliasChoices("problemurl", "url"))
    starts_at: Moment = Field(
        default=None, validation_alias=_anywhere("starttime", "starttime", "eventstart")
    )
    ends_at: Moment = Field(
        default=None, validation_alias=_anywhere("endtime", "endtime", "eventend")
    )


class Dynatrace:
    """Reads the placeholders of a custom integration under any spelling."""

    name = "dynatrace"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one problem of a request."""
        said = flat(delivery.payload, WHAT)
        problem = read(_Problem, said, WHAT)
        state = problem.state.lower()
        over = state == MERGED or values.status(state) is AlertStatus.RESOLVED
        known = problem.tags | _named(problem.entities)
        return [
            Reading(
                title=problem.title,
                status=AlertStatus.RESOLVED if over else AlertStatus.FIRING,
                severity=problem.severity,
                summary=problem.text,
                labels=named(alertname=problem.title, impact=problem.impact)
                | places(texts(said))
                | known
                | places(known),
                starts_at=problem.starts_at,
                ends_at=problem.ends_at if over else None,
                links=values.links({"source": problem.url}),
                key=problem.id,
            )
        ]


def _named(entities: list[Any] | str) -> dict[str, str]:
    """Return what in Kubernetes a problem strikes: the first of each kind."""
    known = (one for one in entities if isinstance(one, dict) and one.get("name"))
    kinds = ((ENTITIES.get(str(one.get("type"))), str(one["name"])) for one in known)
    found: dict[str, str] = {}
    for kind, name in kinds:
        if kind:
            found.setdefault(kind, name)
    return found
