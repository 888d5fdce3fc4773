"""What the cluster reported about the workload, its pods and the object the alert names."""

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.port import EVERYWHERE
from tocsin_contracts import EvidenceKind, ObjectRef, Period
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence import Observation

MOST_PODS = 5
MOST_EVENTS = 8
MOST_NEAR = 60


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the last events about each, every message once."""
    return await together(
        inquiry.ask(inquiry.cluster.source, f"events of {ref}", reported(ref, inquiry))
        for ref in _asked(target)
    )


async def near(target: Target, inquiry: Inquiry) -> Observations:
    """Return the last events about other objects of the namespace and of none, warnings first."""
    return await together(
        inquiry.ask(inquiry.cluster.source, _place(namespace), _near(namespace, target, inquiry))
        for namespace in (target.namespace, "")
    )


async def _near(namespace: str, target: Target, inquiry: Inquiry) -> Observations:
    asked = frozenset(_asked(target))
    others = {
        (event.about, event.reason, event.message): event
        for event in await inquiry.cluster.events_in(namespace)
        if event.about not in asked
    }
    newest = list(others.values())[::-1]
    newest.sort(key=lambda event: event.type != "Warning")
    return tuple(_saw(_place(namespace), event, inquiry) for event in newest[:MOST_NEAR])


def _asked(target: Target) -> tuple[ObjectRef, ...]:
    pods = [pod.ref for pod in target.pods[:MOST_PODS]]
    return tuple(dict.fromkeys(ref for ref in (target.named, target.workload, *pods) if ref))


def _place(namespace: str) -> str:
    if namespace == EVERYWHERE:
        return "events of everything"
    return f"events in {namespace}" if namespace else "events of what is in no namespace"


async def reported(ref: ObjectRef, inquiry: Inquiry) -> Observations:
    """Return the last distinct events about one object, the newest of each message."""
    latest = {(event.reason, event.message): event for event in await inquiry.cluster.events(ref)}
    query = f"events of {ref}"
    return tuple(_saw(query, event, inquiry) for event in list(latest.values())[-MOST_EVENTS:])


def _saw(query: str, event: ClusterEvent, inquiry: Inquiry) -> Observation[ClusterEvent]:
    last = event.last_seen
    window = Period(start=min(event.first_seen or last, last), end=last) if last else None
    told, about = _told(event), str(event.about)
    return inquiry.saw(EvidenceKind.EVENT, query, told, event, ref=about, window=window)


def _told(event: ClusterEvent) -> str:
    when = f", last at {event.last_seen.isoformat()}" if event.last_seen else ""
    return (
        f"{event.type} {event.reason} on {event.about} (seen {event.count}x{when}): {event.message}"
    )
