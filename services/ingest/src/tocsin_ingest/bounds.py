"""What is kept of an alert: no more than people and models read, and no secret, whoever sent it."""

import json
from collections.abc import Mapping

from tocsin_contracts import Alert, Workload
from tocsin_ingest.admission import KIND_LABELS
from tocsin_kit.redaction import Redactor

TITLE = 200
SUMMARY = 1000
VALUE = 2000
NAME = 200
"""Characters of each."""

ENTRIES = 64
ENTRIES_BYTES = 8 * 1024
"""Most labels of an alert, and most annotations: by number, and by size as JSON."""

_FIRST = (
    *("alertname", "severity", "namespace", "exported_namespace", "cluster"),
    *("container", "exported_container", "pod", "exported_pod", *KIND_LABELS, "workload"),
    *("service", "summary", "description", "runbook_url"),
)
_RANK = {name: rank for rank, name in enumerate(_FIRST)}
_LOOKED_AT = 4
"""How many times what is kept is searched for secrets: they shrink a text when they are masked."""

_SECRETS = Redactor()


def bounded(alert: Alert) -> Alert:
    """Return the alert with secrets masked and long texts cut; at most some 32 KiB as JSON."""
    return alert.model_copy(
        update={
            "title": _kept(alert.title, TITLE),
            "severity_given": _kept(alert.severity_given, NAME),
            "summary": _kept(alert.summary, SUMMARY),
            "labels": _entries(alert.labels),
            "annotations": _entries(alert.annotations),
            "link": _link(alert.link),
            "links": {name: kept for name, to in alert.links.items() if (kept := _link(to))},
            "workload": alert.workload and _workload(alert.workload),
        }
    )


def _kept(text: str, limit: int) -> str:
    looked_at = limit * _LOOKED_AT
    masked = _SECRETS.text(text[:looked_at])
    cut = len(text) > looked_at or len(masked) > limit
    return masked[: limit - 1] + "…" if cut else masked


def _entries(texts: Mapping[str, str]) -> dict[str, str]:
    """Keep what says what an alert is about first, then the others by their names."""
    usable = (name for name in texts if len(name) <= NAME)
    names = sorted(usable, key=lambda name: (_RANK.get(name, len(_RANK)), name))
    kept: dict[str, str] = {}
    room = ENTRIES_BYTES
    for name in names[:ENTRIES]:
        value = _kept(texts[name], VALUE)
        size = len(json.dumps({name: value}, ensure_ascii=False).encode())
        if size <= room:
            kept[name] = value
            room -= size
    return kept


def _link(link: str) -> str:
    """A link that was cut leads elsewhere: it is kept whole, or not at all."""
    fits = len(link) <= VALUE and link.isascii() and link.isprintable()
    return _SECRETS.text(link) if fits else ""


def _workload(workload: Workload) -> Workload:
    return Workload(**{name: _SECRETS.text(text) for name, text in workload})
