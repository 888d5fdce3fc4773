"""What is kept of an alert: what people can see and read, and no secret, whoever sent it."""

import json
from collections.abc import Mapping

from tocsin_contracts import Alert, Workload
from tocsin_ingest.admission import KIND_LABELS, workload
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import clean

TITLE = 200
SUMMARY = 1000
VALUE = 4096
NAME = 200
"""Characters of each."""

LINK = 2000

UNTITLED = "unnamed alert"
"""The title of an alert in whose own nothing can be seen."""

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
    """Return the alert fit to be stored: at most some 32 KiB as JSON.

    Secrets are masked, long texts cut, and what a person cannot see is taken out; then the alert
    is marked as cleaned. What it was is told by its fingerprint alone.
    """
    texts = _texts(alert)
    whole = "\n".join(texts)
    if _is_short(alert, len(whole), len(texts)) and _is_plain(whole):
        return alert
    cleaned = any(map(_hides, texts))
    about = _about(alert.labels) if cleaned else alert.workload
    return alert.model_copy(
        update={
            "title": _kept(" ".join(alert.title.split()), TITLE).strip() or UNTITLED,
            "severity_given": _kept(alert.severity_given, NAME),
            "summary": _kept(alert.summary, SUMMARY),
            "labels": _entries(alert.labels),
            "annotations": _entries(alert.annotations),
            "link": _link(alert.link),
            "links": {name: kept for name, to in alert.links.items() if (kept := _link(to))},
            "cleaned": alert.cleaned or cleaned,
            "workload": about and _workload(about),
        }
    )


def _texts(alert: Alert) -> list[str]:
    texts = [alert.title, alert.severity_given, alert.summary, alert.link]
    for table in (alert.labels, alert.annotations, alert.links):
        texts += table
        texts += table.values()
    return texts


def _is_short(alert: Alert, characters: int, texts: int) -> bool:
    """Whether nothing has to be cut, even if every character of its texts had to be escaped."""
    names = (*alert.labels, *alert.annotations, "")
    most = 2 * characters + len('"": "", ') * texts
    return (
        most <= ENTRIES_BYTES
        and bool(alert.title.strip())
        and alert.title.isprintable()
        and max(len(alert.title), len(alert.severity_given)) <= min(TITLE, NAME)
        and len(alert.summary) <= SUMMARY
        and max(map(len, names)) <= NAME
        and max(map(len, (alert.link, *alert.links.values()))) <= LINK
        and max(len(alert.labels), len(alert.annotations)) <= ENTRIES
    )


def _is_plain(whole: str) -> bool:
    """Whether there is nothing to clean or mask: one look at all of the text, for it is rare."""
    seen = whole.isascii() and whole.replace("\n", "").replace("\t", "").isprintable()
    return seen and not _SECRETS.may_hide(whole)


def _place(name: str) -> tuple[int, str]:
    return _RANK.get(name, len(_RANK)), name


def _hides(text: str) -> bool:
    return _visible(text[: VALUE * _LOOKED_AT]) != text[: VALUE * _LOOKED_AT].replace("\r\n", "\n")


def _visible(text: str) -> str:
    return clean(text, len(text)).text


def _kept(text: str, limit: int, name: str = "") -> str:
    looked_at = limit * _LOOKED_AT
    visible = _visible(text[:looked_at])
    masked = _SECRETS.called(name, visible) if name else _SECRETS.text(visible)
    cut = len(text) > looked_at or len(masked) > limit
    return masked[: limit - 1] + "…" if cut else masked


def _entries(texts: Mapping[str, str]) -> dict[str, str]:
    """Keep what says what an alert is about first, then the others by their names."""
    visible = {_visible(name): value for name, value in texts.items() if len(name) <= NAME}
    visible |= {name: value for name, value in texts.items() if name in visible}
    kept: dict[str, str] = {}
    room = ENTRIES_BYTES
    for name in sorted(visible, key=_place)[:ENTRIES]:
        value = _kept(visible[name], VALUE, name)
        size = len(json.dumps({name: value}, ensure_ascii=False).encode())
        if size <= room:
            kept[name] = value
            room -= size
    return kept


def _link(link: str) -> str:
    """A link that was cut leads elsewhere: it is kept whole, or not at all."""
    fits = len(link) <= LINK and link.isascii() and link.isprintable()
    return _SECRETS.text(link) if fits else ""


def _about(labels: Mapping[str, str]) -> Workload | None:
    """Read the workload anew: hidden characters may have kept its pod from being known for one."""
    visible = {_visible(name): _visible(text[:VALUE]) for name, text in labels.items()}
    return workload(visible)


def _workload(about: Workload) -> Workload:
    return Workload(**{name: _SECRETS.text(text) for name, text in about})
