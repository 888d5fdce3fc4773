"""A sender that the operator described: its fields are found by JMESPath expressions."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from tocsin_contracts import AlertStatus
from tocsin_ingest import values
from tocsin_ingest.mapping import SourceMapping
from tocsin_ingest.ports import BadPayloadError, Delivery, Reading
from tocsin_ingest.sources.fields import MOST_ALERTS, moment_or_none, places
from tocsin_ingest.sources.guessing.words import without_states
from tocsin_ingest.sources.reading import texts

Find = Callable[[str], Any]
"""Returns what an expression finds for one alert; None for nothing."""

_NOT_FOUND = (JMESPathError, ArithmeticError, TypeError, ValueError, RecursionError)
"""What evaluating raises on a value that is not as the expression expects."""


class Mapped:
    """Reads one alert for each thing that the expression `alerts` finds."""

    def __init__(self, name: str, mapping: SourceMapping) -> None:
        self._name = name
        self._mapping = mapping

    @property
    def name(self) -> str:
        """The last part of the webhook's path."""
        return self._name

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return every alert; BadPayloadError names the expressions that found nothing."""
        body = delivery.payload
        found = _search(self._mapping.alerts, body)
        alerts = found if isinstance(found, list) else [found]
        if not alerts or found is None:
            raise BadPayloadError(f"{self.name}: alerts: {self._mapping.alerts!r} found nothing")
        in_body = cache(lambda expression: _search(expression, body))
        return [self._reading(one, in_body) for one in alerts[:MOST_ALERTS]]

    def _reading(self, alert: Any, in_body: Find) -> Reading:
        def find(expression: str) -> Any:
            found = _search(expression, alert)
            return in_body(expression) if found is None else found

        wanted = self._mapping
        title = _text(find(wanted.title))
        if not title:
            raise BadPayloadError(f"{self.name}: title: {wanted.title!r} found no text")
        key = _text(find(wanted.key))
        labels = _labels(wanted, find) or ({} if key else {"title": without_states(title)})
        return Reading(
            title=title,
            status=_status(wanted, find),
            severity=_text(find(wanted.severity)),
            scale=wanted.severities,
            summary=_text(find(wanted.summary)),
            labels={**places(labels), **labels},
            starts_at=moment_or_none(find(wanted.starts_at)),
            ends_at=moment_or_none(find(wanted.ends_at)),
            links=values.links({"source": _text(find(wanted.link))}),
            key=key,
        )


def _search(expression: str, value: Any) -> Any:
    if not expression:
        return None
    try:
        return jmespath.search(expression, value)
    except _NOT_FOUND:
        return None


def _status(wanted: SourceMapping, find: Find) -> AlertStatus:
    """Whether it is over: by the condition where there is one, else by a word that we know."""
    if wanted.resolved_when:
        return AlertStatus.RESOLVED if find(wanted.resolved_when) else AlertStatus.FIRING
    return values.status(_text(find(wanted.status)))


def _labels(wanted: SourceMapping, find: Find) -> dict[str, str]:
    """A text under its name, and every entry of what is an object."""
    labels: dict[str, str] = {}
    for name, expression in wanted.labels.items():
        found = find(expression)
        labels |= texts(found if isinstance(found, dict) else {name: found})
    return labels


def _text(found: Any) -> str:
    return texts({"": found}).get("", "").strip()
