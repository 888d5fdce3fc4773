"""What an object of Argo CD or Flux says about the commit that its cluster is at; pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import ObjectRef, Place
from tocsin_kit.untrusted import line

LONGEST = 300
"""Characters of a controller's words that are kept."""

ARGO, FLUX = "Argo CD", "Flux"
_BY = {"Application": ARGO, "Kustomization": FLUX, "HelmRelease": FLUX}
_CALLED = re.compile(rf"({'|'.join(_BY)}) ([a-z0-9.-]+)/([a-z0-9.-]+)")
_COMMIT = re.compile(r"(?:^|.*[:/+])([0-9a-f]{40}|[0-9a-f]{12})")
_APPLIED = "HealthCheckFailed"
"""Flux has applied the last revision that it tried, and waits in vain for it to be well."""

_PENDING = frozenset({_APPLIED, "DependencyNotReady"})


@dataclass(frozen=True, slots=True)
class Report:
    """What a controller says, in the same words for all of them.

    `reached` are the commits, maybe by their first 12 digits, that the cluster is at: one for each
    source. `finished_at` is when it came there. `tried` are those that it last tried, and failed
    with if it has `failed`; empty where no one commit is at fault.
    """

    by: str
    reached: tuple[str, ...]
    tried: tuple[str, ...]
    healthy: bool
    failed: bool
    words: str
    finished_at: datetime | None = None


def asked(place: Place | None) -> tuple[str, ObjectRef] | None:
    """Return who deploys a place, and the object to look at; None if no controller is named."""
    found = _CALLED.fullmatch(place.by) if place else None
    if found is None:
        return None
    kind, namespace, name = found.groups()
    return _BY[kind], ObjectRef(kind=kind, namespace=namespace, name=name)


def read(one: Manifest) -> Report | None:
    """Return what an object says; None if it names no commit of the files that people write."""
    return _argo(one) if one.ref.kind == "Application" else _flux(one)


def _argo(app: Manifest) -> Report | None:
    sync, operation = app.dig("status", "sync"), app.dig("status", "operationState")
    seen, applied = _commits(_revisions(sync)), _commits(_revisions(dig(operation, "syncResult")))
    if app.dig("spec", "sourceHydrator") or not (seen or applied):
        return None
    phase, health = _text(operation, "phase"), _text(app.raw, "status", "health", "status")
    is_whole = phase == "Succeeded" and not dig(operation, "operation", "sync", "resources")
    is_even = _text(sync, "status") == "Synced"
    errors = [
        _text(told, "message")
        for told in app.items("status", "conditions")
        if _text(told, "type").endswith("Error")
    ]
    has_failed = phase in ("Failed", "Error")
    told = [*errors, _text(operation, "message")] if errors or has_failed else []
    state = f"sync is {_text(sync, 'status') or 'Unknown'}, health is {health or 'Unknown'}"
    return Report(
        by=ARGO,
        reached=(*(seen if is_even else ()), *(applied if is_whole else ())),
        tried=() if errors else applied,
        healthy=health in ("Healthy", ""),
        failed=bool(errors) or has_failed,
        words=line("; ".join(filter(None, told)) or state, LONGEST),
        finished_at=_time(operation, "finishedAt") if is_whole else None,
    )


def _flux(one: Manifest) -> Report | None:
    status = one.dig("status")
    tried = _commits([_text(status, "lastAttemptedRevision")])
    applied = _commits([_text(status, "lastAppliedRevision") or _released(one)])
    if not (tried or applied):
        return None
    conditions = one.items("status", "conditions")
    ready = next((told for told in conditions if _text(told, "type") == "Ready"), {})
    state, reason = _text(ready, "status"), _text(ready, "reason")
    generation, observed = one.dig("metadata", "generation"), dig(status, "observedGeneration")
    suspended = "it is suspended" if one.dig("spec", "suspend") is True else ""
    words = filter(None, (suspended, reason, _text(ready, "message")))
    return Report(
        by=FLUX,
        reached=(*applied, *(tried if reason == _APPLIED else ())),
        tried=tried,
        healthy=state == "True" and generation == (observed or generation),
        failed=state == "False" and reason not in _PENDING,
        words=line(": ".join(words), LONGEST),
    )


def _released(one: Manifest) -> str:
    """Return the version of the chart that a HelmRelease has deployed."""
    newest = next(iter(one.items("status", "history")), {})
    return _text(newest, "chartVersion") if _text(newest, "status") == "deployed" else ""


def _revisions(told: Any) -> Iterator[str]:
    """Yield the revision of the only source, or of each."""
    several = dig(told, "revisions")
    yield from map(str, several) if isinstance(several, list) else ()
    yield _text(told, "revision")


def _commits(revisions: Iterable[str]) -> tuple[str, ...]:
    """Return the commits that revisions name: alone, after a branch, or in a chart's version."""
    found = (_COMMIT.fullmatch(one) for one in revisions)
    return tuple(dict.fromkeys(one[1] for one in found if one))


def _time(fields: Any, key: str) -> datetime | None:
    try:
        told = datetime.fromisoformat(_text(fields, key))
    except ValueError:
        return None
    return told if told.tzinfo else None


def _text(fields: Any, *path: str) -> str:
    found = dig(fields, *path) if isinstance(fields, Mapping) else None
    return found if isinstance(found, str) else ""
