"""Alerts of any sender, by the names that fields usually have: a new sender needs no code."""

from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.guessing import guess
from tocsin_ingest.sources.words import plain

LISTS = ("alerts", "events", "incidents", "problems", "issues", "notifications", "attachments")
"""Fields that hold several alerts."""

MOST = 1001
"""Alerts that are read of one body: one more than a request may have."""


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
    found = list(_several(payload, around or {}))[:MOST]
    if not found:
        raise BadPayloadError("not an alert: the body: send a JSON object, or a list of some")
    return [guess(one, outside) for one, outside in found]


def _several(
    payload: Any, around: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    if isinstance(payload, list):
        yield from ((one, around) for one in _objects(payload))
    elif isinstance(payload, dict):
        for name in sorted(payload):
            if plain(name) in LISTS and (inner := _objects(payload[name])):
                yield from ((one, {**around, **payload}) for one in inner)
                return
        yield payload, around


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list that has nothing else."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    return value
