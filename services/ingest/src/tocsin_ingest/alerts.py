"""From a sender's reading to an alert of ours: who it is, and what it means."""

from collections.abc import Mapping
from dataclasses import dataclass

from tocsin_contracts import Alert, Incident, Workload
from tocsin_ingest import admission, values
from tocsin_ingest.bounds import bounded
from tocsin_ingest.marks import MARKS, Marks
from tocsin_ingest.ports import Reading
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import line

_SECRETS = Redactor()


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What tells the alerts of one sender apart, and what brings them together.

    `source` is what reads them, `instance` which of several such senders it is. `only`, where it
    names labels, are the only ones that count; `ignored` never do.
    """

    source: str
    instance: str = ""
    ignored: frozenset[str] = frozenset()
    only: tuple[str, ...] = ()
    marks: Marks = MARKS

    @property
    def place(self) -> str:
        """The sender, as its alerts say it."""
        return f"{self.source}/{self.instance}" if self.instance else self.source

    def fingerprint(self, reading: Reading) -> str:
        """Return who an alert is: from its labels, or from its sender's own key."""
        chosen = {"": reading.key} if self.keyed(reading) else self._chosen(reading)
        return admission.fingerprint(self.place, chosen or reading.labels, self.ignored)

    def keyed(self, reading: Reading) -> bool:
        """Return whether an alert is who its sender says, not what its labels say."""
        return bool(reading.key) and not self._chosen(reading)

    def incident(self, reading: Reading, about: Workload | None) -> dict[str, str]:
        """Return what the alert has in common with the others of its incident."""
        chosen = self._chosen(reading)
        if chosen and not about:
            return admission.of_sender(self.place, chosen)
        labels = {n: text for n, text in reading.labels.items() if n not in self.ignored}
        return admission.incident(self.place, labels, about, self.marks, reading.key)

    def _chosen(self, reading: Reading) -> dict[str, str]:
        return {name: reading.labels[name] for name in self.only if name in reading.labels}


def alert_of(reading: Reading, identity: Identity) -> Alert:
    """Return the alert that a reading tells of, fit for the bus."""
    about = admission.workload(reading.labels)
    parts = identity.incident(reading, about)
    given = Alert(
        source=identity.source,
        instance=identity.instance,
        fingerprint=identity.fingerprint(reading),
        status=reading.status,
        title=reading.title,
        severity=values.severity(reading.severity, reading.scale),
        severity_given=reading.severity,
        summary=reading.summary,
        labels=dict(reading.labels),
        annotations=dict(reading.annotations),
        starts_at=reading.starts_at,
        ends_at=reading.ends_at,
        link=next(iter(reading.links.values()), ""),
        links=dict(reading.links),
        workload=about,
        keyed=identity.keyed(reading),
        incident=_incident(parts, about, reading.labels),
    )
    kept = bounded(given)
    if kept is given:
        return given
    return kept.model_copy(update={"incident": _incident(parts, kept.workload, kept.labels)})


def _incident(
    parts: Mapping[str, str], about: Workload | None, labels: Mapping[str, str]
) -> Incident:
    """Return the incident; what it is made of is shown in the words of the alert as it is kept."""
    if about:
        shown = admission.of_workload(about)
        return Incident(key=admission.key_of(shown), parts=shown)
    named = {name: admission.label_of(name) for name in parts}
    kept = {name: labels[label] for name, label in named.items() if label and label in labels}
    given = {name: parts[name] for name in (admission.SOURCE, admission.OWN) if name in parts}
    shown = {name: _SECRETS.text(line(text)) for name, text in given.items()} | kept
    return Incident(key=admission.key_of(parts), parts=shown)
