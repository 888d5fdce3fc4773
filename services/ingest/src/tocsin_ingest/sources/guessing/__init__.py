"""Read an alert out of a body of unknown shape, by the names that fields usually have."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from tocsin_contracts import AlertStatus, Severity
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Reading
from tocsin_ingest.sources.fields import EMPTY, moment_or_none, places
from tocsin_ingest.sources.guessing import words
from tocsin_ingest.sources.guessing.parts import (
    Part,
    named_texts,
    object_of,
    parts_of,
    texts_under,
)
from tocsin_ingest.sources.reading import texts

USUAL = "title, name, check, monitor, subject, summary, message"
"""What is said of `words.TITLES` to who sends none of them."""


def guess(body: Mapping[str, Any], around: Sequence[Part] = ()) -> Reading:
    """Return the alert that a body tells of; what it lacks is looked for in the parts `around` it.

    Raises BadPayloadError that says under which names no title was found.
    """
    parts = [*parts_of(body), *around]
    title = _title(parts)
    labels, severity = _labels(parts), _severity(parts)
    status = _status(parts) or words.marked(title) or _status_by_end(parts)
    starts, ends = _times(parts, status)
    key = next(texts_under([part for part in parts if part.is_the_alert], words.KEYS), "")
    identity = labels or ({} if key else {"title": words.without_states(title)})
    return Reading(
        title=title,
        status=status,
        severity=severity or (_state_as_severity(parts) if status is AlertStatus.FIRING else ""),
        summary=next((text for text in texts_under(parts, words.SUMMARIES) if text != title), ""),
        labels={**places(identity), **identity},
        annotations={n: t for n, t in _annotations(parts[0]).items() if n not in identity},
        starts_at=starts,
        ends_at=ends,
        links=_links(parts),
        key=key,
    )


def _links(parts: Sequence[Part]) -> dict[str, str]:
    found: dict[str, str | None] = {}
    for name, text in named_texts(parts, words.LINKS):
        found.setdefault(name, text)
    return values.links(found)


def _title(parts: Sequence[Part]) -> str:
    strong = texts_under(parts, words.TITLES)
    weak = (text for name in words.WEAK_TITLES for text in texts_under(parts, (name,)))
    for title in (*islice(strong, 1), *islice(weak, 1)):
        return title
    raise BadPayloadError(f"not an alert: title: found under none of {USUAL}, nor the like")


def _status(parts: Sequence[Part]) -> AlertStatus | None:
    """The first word or flag that is surely about the state of the alert."""
    for part in parts:
        if part.is_about_the_alert:
            told = (words.state(text) for text in texts_under((part,), words.STATES))
            flags = (words.flag(name, part.fields.get(name)) for name in words.FLAGS)
            level = (words.level(text) for text in texts_under((part,), words.LEVELS))
            if found := next(filter(None, (*told, *flags, *level)), None):
                return found
    return None


def _status_by_end(parts: Sequence[Part]) -> AlertStatus:
    """Where no word says it: an alert that has been resolved at some time is over."""
    near = [part for part in parts if part.is_about_the_alert]
    return AlertStatus.RESOLVED if _time(near, words.RESOLVED_AT) else AlertStatus.FIRING


def _severity(parts: Sequence[Part]) -> str:
    """The first word that we know, as it was written; else the first one."""
    found = [
        text
        for part in parts
        for name in words.SEVERITIES
        if (text := part.plain_texts.get(name, "").strip()) and text not in EMPTY
    ]
    known = (word for text in found for word in (text, words.last(text)) if _is_known(word))
    return next(known, found[0] if found else "")


def _state_as_severity(parts: Sequence[Part]) -> str:
    near = [part for part in parts if part.is_about_the_alert]
    told = (word for text in texts_under(near, words.STATES) for word in (text, words.last(text)))
    return next((word for word in told if _is_known(word) and word.lower() != "alert"), "")


def _is_known(word: str) -> bool:
    return values.severity(word) is not Severity.UNKNOWN


def _labels(parts: Sequence[Part]) -> dict[str, str]:
    """The sender's own labels; where it has none, every field that names a thing."""
    own = next((one for part in parts if (one := _own_labels(part))), None)
    if own:
        return own
    labels: dict[str, str] = {}
    for part in reversed(parts):
        labels |= part.identity
    return labels


def _own_labels(part: Part) -> dict[str, str]:
    if not part.is_about_the_alert:
        return {}
    return texts(dict(object_of(part.fields.get("labels"))))


def _annotations(part: Part) -> dict[str, str]:
    own = object_of(part.fields.get("annotations"))
    return {**part.texts, **texts(dict(own))}


def _times(parts: Sequence[Part], status: AlertStatus) -> tuple[datetime | None, datetime | None]:
    near = [part for part in parts if part.is_about_the_alert]
    starts, ends, any_ = (_time(near, names) for names in (words.STARTS, words.ENDS, words.TIMES))
    if status is AlertStatus.RESOLVED:
        return starts, ends or any_
    return starts or any_, None


def _time(parts: Sequence[Part], names: Sequence[str]) -> datetime | None:
    found = (part.fields[name] for part in parts for name in names if name in part.fields)
    return next(filter(None, map(moment_or_none, found)), None)
