"""What the containers in trouble said, now and before their last restart."""

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import EvidenceKind
from tocsin_kit.untrusted import clean
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence import LogText

MOST_CONTAINERS = 4
LONGEST = 64_000


@dataclass(frozen=True, slots=True)
class _Wanted:
    pod: Manifest
    container: str
    previous: bool
    needed: bool = True

    @property
    def query(self) -> str:
        which = "log before the last restart" if self.previous else "log"
        return f"{which} of {self.container} in {self.pod.ref}"


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the logs of the first containers that are not ready or have been restarted.

    Where all are well, the first pod speaks for all: a program may fail and run on.
    """
    wanted = [log for pod in target.pods for log in _wanted(pod)]
    wanted = wanted or [log for pod in target.pods[:1] for log in _of_the_well(pod)]
    first = list(dict.fromkeys((log.pod.ref, log.container) for log in wanted))[:MOST_CONTAINERS]
    return await together(
        inquiry.ask(inquiry.cluster.source, log.query, _read(log, inquiry))
        for log in wanted
        if (log.pod.ref, log.container) in first
    )


def _wanted(pod: Manifest) -> Iterator[_Wanted]:
    for status in pod.items("status", "containerStatuses"):
        name, restarts = str(status.get("name")), int(status.get("restartCount") or 0)
        state = dig(status, "state") or {}
        started = "running" in state or "terminated" in state
        if started and (restarts or status.get("ready") is not True):
            yield _Wanted(pod, name, previous=False)
        if restarts:
            yield _Wanted(pod, name, previous=True)


def _of_the_well(pod: Manifest) -> Iterator[_Wanted]:
    for status in pod.items("status", "containerStatuses"):
        if dig(status, "state", "running") is not None and status.get("name"):
            yield _Wanted(pod, str(status["name"]), previous=False, needed=False)


async def _read(log: _Wanted, inquiry: Inquiry) -> Observations:
    pod = log.pod.ref
    text = await inquiry.cluster.logs(pod.namespace, pod.name, log.container, previous=log.previous)
    if text is None and not log.needed:
        return ()
    if text is None:
        return (inquiry.missing(inquiry.cluster.source, log.query, "no such log is kept"),)
    kept = clean(text, LONGEST).text
    read = LogText(pod.name, log.container, log.previous, kept)
    return (inquiry.saw(EvidenceKind.LOG, log.query, kept, read, ref=str(pod)),)
