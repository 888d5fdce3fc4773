"""Fields as senders and templates write them: names in any spelling, texts of any type, tags."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError
from tocsin_ingest.sources.reading import Sent, texts

MOST_ALERTS = 1001
"""Alerts that are read of one body: one more than a request may have."""

EMPTY = frozenset(("<no value>", "null", "None", "<nil>"))
"""What templates leave where there was nothing."""

_KUBERNETES = re.compile(
    r"(?:dt)?(?P<prefix>kube|k8s|kubernetes)?"
    r"(?P<thing>namespace|pod|container|cluster|deployment|statefulset|daemonset|cronjob|job|workload)"
    r"(?P<suffix>name)?"
)
_TAG = re.compile(r"\s*(?:\[[^\]]*\])?(?P<name>[^:=]+)[:=](?P<value>.+)", re.DOTALL)
_TAG_NAMES = ("key", "name", "tag")
_PAIR = 2
_SPACED_OFFSET = re.compile(r" (?=[+-]\d\d:?\d\d)")


class Loose(Sent):
    """A part of a payload whose sender writes null for what it does not say."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value is not None}


def plain(name: str) -> str:
    """Return a field's name without case and separators: of `Alert_Name` it is `alertname`."""
    return "".join(filter(str.isalnum, name)).lower()


def flat(payload: Any, what: str) -> dict[str, Any]:
    """Return what a payload says by plain names: lower-case letters and digits only.

    `alert_id`, `alertId`, `ALERT.ID` and `{"alert": {"id": …}}` are all `alertid`; what is empty is
    not there, and what stands further out counts. Raises BadPayloadError for what is no object;
    `what` is how the sender calls it.
    """
    if not isinstance(payload, dict):
        raise BadPayloadError(f"not {what}: the body: it must be one object of named values")
    found: dict[str, Any] = {}
    inner: list[tuple[str, dict[str, Any]]] = [("", payload)]
    for prefix, level in inner:
        for name in sorted(level):
            value, whole = level[name], prefix + plain(name)
            if value is None or value == "":
                continue
            found.setdefault(whole, value)
            if isinstance(value, dict):
                inner.append((whole, value))
    return found


def text(given: Any) -> Any:
    """Return a plain value as text, nothing for null; what is nested stays, to be refused."""
    if given is None:
        return ""
    if isinstance(given, bool):
        return str(given).lower()
    return str(given) if isinstance(given, int | float) else given


def first(said: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the first text under one of the names, or nothing."""
    return next((found for name in names if (found := said.get(name, "").strip())), "")


def moment_or_none(given: Any) -> datetime | None:
    """Return a time, or None for what is none: a guess must not refuse an alert."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    try:
        return values.moment(_SPACED_OFFSET.sub("", str(given)))
    except ValueError:
        return None


def decoded(content: Any) -> Any:
    """Return what a text or bytes say as JSON; the text where they are none, else what is given."""
    if not isinstance(content, str | bytes):
        return content
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content if isinstance(content, str) else content.decode(errors="replace")


def tags(given: Any) -> dict[str, str]:
    """Return tags by name: `a:b, c=d`, a list of such, of pairs or of objects, or an object.

    A tag without a value names nothing and is left out.
    """
    if isinstance(given, dict):
        return texts(given)
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, Iterable):
        return {}
    return texts(dict(pair for part in parts if (pair := _pair(part))))


def named(**labels: str) -> dict[str, str]:
    """Return the labels that have a value."""
    return {name: value for name, value in labels.items() if value}


def places(entries: Mapping[str, str]) -> dict[str, str]:
    """Return what in Kubernetes the entries name, under the names that Prometheus has for it."""
    found: dict[str, str] = {}
    for name in sorted(entries):
        match = _KUBERNETES.fullmatch(plain(name))
        if match is None or not entries[name]:
            continue
        thing = match["thing"]
        if thing != "job":
            found.setdefault(thing, entries[name])
        elif match["prefix"] or match["suffix"]:
            found.setdefault("job_name", entries[name])
    return found


Text = Annotated[str, BeforeValidator(text)]
"""A text that may come as a number, or as null."""

Tags = Annotated[dict[str, str], BeforeValidator(tags)]
"""Tags in any of the forms that senders have for them."""


def _pair(part: Any) -> tuple[str, Any] | None:
    if isinstance(part, str):
        found = _TAG.fullmatch(part)
        return (found["name"].strip(), found["value"].strip()) if found else None
    if isinstance(part, list) and len(part) == _PAIR:
        return str(part[0]), part[1]
    if isinstance(part, dict):
        name = next((part[one] for one in _TAG_NAMES if part.get(one)), None)
        return (str(name), part.get("value")) if name else None
    return None
