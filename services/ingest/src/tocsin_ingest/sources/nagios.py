"""Notifications of Nagios, Icinga and their kin: a host or a service, its state, and why."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.fields import first, flat, moment_or_none
from tocsin_ingest.sources.reading import texts

UTC_DATE = "%a %b %d %H:%M:%S UTC %Y"
"""How `date` writes a time on a monitoring server that runs in UTC."""

_KIND = ("notificationtype", "type")
_HOST = ("hostname", "host", "hostdisplayname", "hostalias", "alias")
_SERVICE = (
    *("servicedesc", "servicedescription", "servicename", "service", "servicedisplayname"),
    "servicecheckname",
)
_SERVICE_STATE = ("servicestate", "serviceshortstate", "status", "state", "servicestateid")
_HOST_STATE = ("hoststate", "hostshortstate", "status", "state", "hoststateid")
_STATES_OF_SERVICES = (_SERVICE_STATE, values.NAGIOS_SERVICE)
_STATES_OF_HOSTS = (_HOST_STATE, values.NAGIOS_HOST)
_OUTPUT = (
    *("serviceoutput", "hostoutput", "output", "checkoutput", "pluginoutput", "message"),
    *("longserviceoutput", "longhostoutput", "longoutput", "summary"),
)
_CHANGED = ("lastservicestatechange", "lasthoststatechange", "laststatechange")
_NOW = ("timet", "microtime", "timestamp", "shortdatetime", "date")
_SHORT = {"CRIT": "CRITICAL", "WARN": "WARNING", "UNKN": "UNKNOWN", "UNREACH": "UNREACHABLE"}
_NO_NEWS = ("downtime", "flappingdisabled")
"""Notifications that tell of planned work, and of no fault."""

_NOTES = (
    *("hostaddress", "address", "site", "omdsite", "checkcommand", "notificationcomment"),
    *("comment", "notificationauthor", "author", "event", "servicenotes", "hostnotes"),
)
_LINKS = ("url", "link", "serviceurl", "hosturl", "serviceactionurl", "hostactionurl")


class Nagios:
    """Reads the macros of a notification command, whatever the spelling of their names."""

    name = "nagios"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a notification; one about planned work has none."""
        return notification(delivery.payload, "a Nagios or Icinga notification")


def notification(payload: Any, what: str) -> list[Reading]:
    """Return the alert of one notification; BadPayloadError names what it lacks."""
    sent = {name.removeprefix("notify"): text for name, text in texts(flat(payload, what)).items()}
    host, kind = first(sent, _HOST), first(sent, _KIND)
    service = "" if sent.get("what", "").lower() == "host" else first(sent, _SERVICE)
    names, scale = _STATES_OF_SERVICES if service else _STATES_OF_HOSTS
    written = values.worded(first(sent, names), scale)
    state = _SHORT.get(written.upper(), written)
    missing = [name for name, text in (("HOSTNAME", host), ("state", state or kind)) if not text]
    if missing:
        raise BadPayloadError(f"not {what}: {', '.join(missing)}: no field of this name")
    if kind.lower().startswith(_NO_NEWS):
        return []
    status = _status(kind, state)
    changed = _changed(sent)
    return [
        Reading(
            title=f"{service} on {host}" if service else host,
            status=status,
            severity=state,
            summary=first(sent, _OUTPUT),
            labels=texts({"host": host, "service": service}),
            annotations={name: sent[name] for name in _NOTES if name in sent},
            starts_at=None if status is AlertStatus.RESOLVED else changed,
            ends_at=changed if status is AlertStatus.RESOLVED else None,
            links=values.links({name: sent.get(name) for name in _LINKS}),
        )
    ]


def _status(kind: str, state: str) -> AlertStatus:
    """A recovery is over whatever else it says; anything else is what its state says."""
    if kind.lower().startswith("recovery"):
        return AlertStatus.RESOLVED
    if kind.lower().startswith(("problem", "flappingstart")):
        return AlertStatus.FIRING
    return values.status(state)


def _changed(sent: Mapping[str, str]) -> datetime | None:
    at = (moment_or_none(sent[name]) for name in _CHANGED if name in sent)
    now = (moment_or_none(sent[name]) for name in _NOW if name in sent)
    return next(filter(None, (*at, _long_date(sent.get("longdatetime", "")), *now)), None)


def _long_date(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, UTC_DATE).replace(tzinfo=UTC)
    except ValueError:
        return moment_or_none(text)
