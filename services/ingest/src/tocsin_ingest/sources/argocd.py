"""Argo CD notifications: the operator's own template, with the application's health and sync."""

from typing import Any

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.fields import EMPTY, first, flat, places
from tocsin_ingest.sources.reading import texts

WHAT = "an Argo CD notification"

_APP = (
    *("app", "application", "appname", "applicationname", "appmetadataname"),
    *("metadataname", "name"),
)
_HEALTH = ("health", "healthstatus", "apphealth", "appstatushealthstatus", "statushealthstatus")
_SYNC = ("sync", "syncstatus", "appsync", "appstatussyncstatus", "statussyncstatus")
_PHASE = (
    *("phase", "operation", "operationphase", "operationstate", "operationstatephase"),
    *("appstatusoperationstatephase", "statusoperationstatephase"),
)
_MESSAGE = (
    *("message", "description", "appstatusoperationstatemessage", "appstatushealthmessage"),
    *("statusoperationstatemessage", "statushealthmessage"),
)
_PROJECT = ("project", "appproject", "appspecproject", "specproject")
_NAMESPACE = ("destinationnamespace", "appspecdestinationnamespace", "specdestinationnamespace")
_LINKS = ("url", "link", "targeturl", "appurl", "argocdurl")
_NOTES = ("revision", "repourl", "path", "author", "commit", "trigger")
_FAILED = frozenset(("failed", "error"))
_UNKNOWN = "unknown"
_SYNCED = "synced"


class ArgoCd:
    """Reads the fields that templates take from an application, flat or as it is."""

    name = "argocd"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of an application."""
        sent = {
            name: text.strip()
            for name, text in texts(flat(delivery.payload, WHAT)).items()
            if text.strip() and text.strip() not in EMPTY
        }
        app = first(sent, _APP)
        if not app:
            raise BadPayloadError(f"not {WHAT}: app: send the name of the application as `app`")
        return [_reading(app, sent)]


def _reading(app: str, sent: dict[str, str]) -> Reading:
    health, sync, phase = (first(sent, names) for names in (_HEALTH, _SYNC, _PHASE))
    state = phase if phase.lower() in _FAILED else health or sync or phase
    labels = {
        "app": app,
        "project": first(sent, _PROJECT),
        "namespace": first(sent, _NAMESPACE),
        **places(sent),
    }
    status = _status(health, sync, phase)
    return Reading(
        title=_title(app, state, failed=state == phase),
        status=status,
        severity=sent.get("severity") or (state if status is AlertStatus.FIRING else ""),
        summary=first(sent, _MESSAGE),
        labels=texts(labels),
        annotations=texts({name: sent.get(name) for name in _NOTES} | _states(health, sync, phase)),
        links=values.links({"argocd": first(sent, _LINKS), "repository": sent.get("repourl")}),
        key=app,
    )


def _title(app: str, state: str, *, failed: bool) -> str:
    if not state:
        return app
    return f"{app} sync {state}" if failed else f"{app} is {state}"


def _status(health: str, sync: str, phase: str) -> AlertStatus:
    """Over where the application is healthy; without its health, where it is synced."""
    if phase.lower() in _FAILED or sync.lower() == _UNKNOWN:
        return AlertStatus.FIRING
    if health:
        return values.status(health)
    if sync:
        return AlertStatus.RESOLVED if sync.lower() == _SYNCED else AlertStatus.FIRING
    return AlertStatus.RESOLVED if phase.lower() == "succeeded" else AlertStatus.FIRING


def _states(health: str, sync: str, phase: str) -> dict[str, Any]:
    return {"health": health, "sync": sync, "phase": phase}
