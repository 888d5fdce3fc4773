"""From a sender's reading to an alert of ours: who it is, and what it means."""

from dataclasses import dataclass

from tocsin_contracts import Alert
from tocsin_ingest import admission, values
from tocsin_ingest.bounds import bounded
from tocsin_ingest.ports import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What tells the alerts of one sender apart.

    `source` is what reads them, `instance` which of several such senders it is. `only`, where it
    names labels, are the only ones that count; `ignored` never do.
    """

    source: str
    instance: str = ""
    ignored: frozenset[str] = frozenset()
    only: tuple[str, ...] = ()

    def fingerprint(self, reading: Reading) -> str:
        """Return who an alert is: from its labels, or from its sender's own key."""
        labels = reading.labels
        chosen = {name: labels[name] for name in self.only if name in labels}
        if reading.key and not chosen:
            chosen = {"": reading.key}
        place = f"{self.source}/{self.instance}" if self.instance else self.source
        return admission.fingerprint(place, chosen or labels, self.ignored)


def alert_of(reading: Reading, identity: Identity) -> Alert:
    """Return the alert that a reading tells of, fit for the bus."""
    return bounded(
        Alert(
            source=identity.source,
            instance=identity.instance,
            fingerprint=identity.fingerprint(reading),
            status=reading.status,
            title=reading.title,
            severity=values.severity(reading.severity),
            severity_given=reading.severity,
            summary=reading.summary,
            labels=dict(reading.labels),
            annotations=dict(reading.annotations),
            starts_at=reading.starts_at,
            ends_at=reading.ends_at,
            link=next(iter(reading.links.values()), ""),
            links=dict(reading.links),
            workload=admission.workload(reading.labels),
        )
    )
