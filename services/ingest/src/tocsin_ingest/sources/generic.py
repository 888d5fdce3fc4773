"""Alerts of any sender, by the names that fields usually have: a new sender needs no code."""

from collections.abc import Mapping
from typing import Any

from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.fields import MOST_ALERTS, plain
from tocsin_ingest.sources.guessing import guess
from tocsin_ingest.sources.guessing.parts import parts_of

LISTS = ("alerts", "events", "incidents", "problems", "issues", "notifications", "attachments")
"""Fields that hold several alerts."""

MOST_AROUND = 20
"""Objects around the alerts in which each of them is looked for."""


class Generic:
    """Reads titles, states, severities, times and things by their usual names."""

    name = "generic"
    takes_forms = True

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return one alert, or those of a list."""
        return readings(delivery.payload)


def readings(payload: Any, around: Mapping[str, Any] | None = None) -> list[Reading]:
    """Return every alert that a body of unknown shape tells of; BadPayloadError for no alert.

    What an alert lacks is looked for in its body, and then in what is `around` that.
    """
    found, body = _several(payload)
    if not found:
        raise BadPayloadError("not an alert: the body: send a JSON object, or a list of some")
    outside = parts_of({**(around or {}), **body})[:MOST_AROUND]
    return [guess(one, outside) for one in found[:MOST_ALERTS]]


def _several(payload: Any) -> tuple[list[Mapping[str, Any]], Mapping[str, Any]]:
    """The alerts of a body, and the body where it is more than they are."""
    if not isinstance(payload, dict):
        return _objects(payload), {}
    for name in sorted(payload):
        if plain(name) in LISTS and (inner := _objects(payload[name])):
            return inner, {other: payload[other] for other in payload if other != name}
    return [payload], {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list that has nothing else."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    return value
