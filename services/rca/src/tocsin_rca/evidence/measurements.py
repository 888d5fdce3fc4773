"""Metrics, anomalies and call graphs in what monitoring tools print, whatever shape they have."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from tocsin_rca.evidence.localising import Calls, Suspect
from tocsin_rca.evidence.series import Series, in_order

_SUBJECTS = ("service", "service_name", "app", "deployment", "workload", "component", "pod",
             "container", "node", "instance", "target", "job")  # fmt: skip
_METRICS = (
    "metric",
    "metric_name",
    "__name__",
    "indicator",
    "anomaly_type",
    "kind",
    "type",
    "name",
)
_NOW = ("value", "current", "observed", "current_value", "actual", "anomaly_value", "after")
_USUAL = ("baseline", "normal", "expected", "mean", "baseline_value", "average", "before")
_SCORES = ("score", "deviation", "zscore", "z_score", "anomaly_score", "change_ratio", "ratio")
_CALLERS = ("source", "caller", "from", "parent", "client", "service", "service_name", "name")
_CALLEES = ("target", "callee", "to", "child", "server", "dependencies", "depends_on",
            "downstream", "calls", "callees")  # fmt: skip
_ARROW = re.compile(
    r"^[\s*-]{0,8}(?P<caller>[\w.-]{1,80})\s{0,4}(?:-{1,2}>|=>|→|calls|depends on:?)"
    r"\s{0,4}(?P<callees>[\w., \[\]'\"-]{1,400})$"
)
_STEP = re.compile(
    r"(?i)(?P<subject>[\w.-]{2,80})[\s:|,-]{1,5}(?P<metric>[\w ./%-]{3,60}?)"
    r"[\s:|,-]{1,4}(?:rose|increased|jumped|spik\w{2}|went up|grew|changed"
    r"|dropped|decreased|fell)\s{1,3}from\s{1,3}(?P<usual>\d{1,12}(?:\.\d{1,6})?)\s?\S{0,6}\s{1,3}to\s{1,3}"
    r"(?P<now>\d{1,12}(?:\.\d{1,6})?)"
)
_NUMBER = r"(?:\d{1,12}(?:\.\d{1,6})?)"
_BESIDE = re.compile(
    r"(?i)^\s{0,8}(?P<subject>[\w.-]{2,80})[\s:|,]{1,8}(?P<metric>[\w ./%()-]{2,60}?)[\s:|,=]{1,8}"
    rf"(?:baseline|normally|usually|usual|normal|before|was)[\s:=]{{1,4}}(?P<usual>{_NUMBER})\S{{0,6}}"
    rf"[\s,;|]{{1,8}}(?:now|currently|current|after|is)[\s:=]{{1,4}}(?P<now>{_NUMBER})"
)
_INTO = re.compile(
    rf"^\s{{0,8}}(?P<metric>[A-Za-z][\w .%-]{{1,60}}?)[\s:=]{{1,4}}(?P<usual>{_NUMBER})"
    rf"\s?[a-zA-Z%/]{{0,6}}\s{{1,3}}(?:-{{1,2}}>|→|=>)\s{{1,3}}(?P<now>{_NUMBER})"
)
_DEEPEST = 8
_MOST = 4000
_MOST_LINES = 400
_ALARMING = 3.0
_SAID = 5.0
"""The weight of an anomaly that a tool only names."""


@dataclass(frozen=True, slots=True)
class Step:
    """A number that is not what it usually is; the subject is empty where the line names none."""

    subject: str
    metric: str
    usual: float
    now: float


def series_in(data: Any) -> tuple[Series, ...]:
    """Return the series of a range query as Prometheus answers it, wherever they are in JSON."""
    return tuple(one for raw in _objects(data) if (one := _series(raw)) and in_order(one.times))


def anomalies_in(data: Any, text: str) -> tuple[Suspect, ...]:
    """Return the anomalies that JSON lists, or else those that lines tell of."""
    found = [one for raw in _objects(data) if (one := _anomaly(raw))]
    if not found:
        found = [one for line in text.splitlines()[:_MOST_LINES] if (one := _told(line[:500]))]
    return tuple(dict.fromkeys(found))


def steps_in(text: str) -> tuple[Step, ...]:
    """Return the changes of numbers that lines tell of, with what was usual and what is now."""
    found = (_step(line[:500]) for line in text.splitlines()[:_MOST_LINES])
    return tuple(one for one in found if one)


def calls_in(data: Any, text: str) -> Calls:
    """Return who calls whom: from JSON, or from lines such as `front -> cart, pay`."""
    found: dict[str, set[str]] = defaultdict(set)
    for raw in _objects(data):
        for caller, callees in _edges(raw):
            found[caller] |= callees
    for line in text.splitlines()[:_MOST_LINES] if data is None else ():
        arrow = _ARROW.match(line[:600])
        if arrow:
            found[arrow["caller"]] |= set(re.findall(r"[\w.-]{2,80}", arrow["callees"]))
    return {caller: frozenset(callees - {caller}) for caller, callees in found.items()}


def _objects(data: Any, depth: int = _DEEPEST) -> Iterator[Mapping[str, Any]]:
    if depth <= 0:
        return
    if isinstance(data, Mapping):
        yield data
        for value in data.values():
            yield from _objects(value, depth - 1)
    elif isinstance(data, list):
        for value in data[:_MOST]:
            yield from _objects(value, depth - 1)


def _series(raw: Mapping[str, Any]) -> Series | None:
    labels, values = raw.get("metric"), raw.get("values")
    if not isinstance(values, list):
        return None
    named = labels if isinstance(labels, Mapping) else raw
    pairs = [pair for one in values[:_MOST] if (pair := _pair(one))]
    if not pairs:
        return None
    times, numbers = zip(*pairs, strict=True)
    metric = labels if isinstance(labels, str) else _first(named, _METRICS)
    return Series(_first(named, _SUBJECTS), metric, times, numbers)


def _pair(one: Any) -> tuple[float, float] | None:
    if not isinstance(one, list | tuple) or len(one) != len(("time", "value")):
        return None
    time, value = _number(one[0]), _number(one[1])
    return None if time is None or value is None else (time, value)


def _anomaly(raw: Mapping[str, Any]) -> Suspect | None:
    subject, metric = _first(raw, _SUBJECTS), _first(raw, _METRICS)
    if not subject or not metric or subject == metric or "values" in raw:
        return None
    now, usual = _figure(raw, _NOW), _figure(raw, _USUAL)
    score = _figure(raw, _SCORES)
    if now is not None and usual is not None:
        score = abs(now - usual) / max(abs(usual), 1e-9)
        return Suspect(subject, metric, min(score, 1e6)) if score >= 1 else None
    is_one = "anomal" in " ".join(raw).lower() or "severity" in raw or score is not None
    return Suspect(subject, metric, score or _SAID) if is_one else None


def _told(line: str) -> Suspect | None:
    step = _step(line)
    if step is None:
        return None
    score = abs(step.now - step.usual) / max(abs(step.usual), 1e-9)
    return Suspect(step.subject, step.metric, min(score, 1e6)) if score >= 1 else None


def _step(line: str) -> Step | None:
    found = _STEP.search(line) if " from " in line and " to " in line else None
    found = found or _BESIDE.match(line) or _INTO.match(line)
    if found is None:
        return None
    named = found.groupdict()
    return Step(
        named.get("subject") or "",
        found["metric"].strip(),
        float(found["usual"]),
        float(found["now"]),
    )


def _edges(raw: Mapping[str, Any]) -> Iterator[tuple[str, set[str]]]:
    caller = _first(raw, _CALLERS)
    for key in _CALLEES:
        callees = _names(raw.get(key))
        if caller and callees and callees != {caller}:
            yield caller, callees
            return
    if raw and all(isinstance(value, list) and _names(value) for value in raw.values()):
        for name, value in raw.items():
            if name not in _CALLEES:
                yield str(name), _names(value)


def _names(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    every = value if isinstance(value, list) else []
    found = {one if isinstance(one, str) else _first(one, _CALLERS) for one in every
             if isinstance(one, str | Mapping)}  # fmt: skip
    return found - {""}


def _first(raw: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((raw[key] for key in keys if isinstance(raw.get(key), str) and raw[key]), "")


def _figure(raw: Mapping[str, Any], keys: tuple[str, ...]) -> float | None:
    return next((n for key in keys if (n := _number(raw.get(key))) is not None), None)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(str(value).strip().rstrip("%").removesuffix("ms").removesuffix("s"))
    except ValueError:
        return None
    return number if isfinite(number) else None
