"""From what commands printed to objects, events and usage; one file for each form of text."""

from collections.abc import Iterable
from dataclasses import dataclass

from tocsin_cluster.events import ClusterEvent, read_event
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import Usage
from tocsin_cluster.printed import Printed
from tocsin_cluster.reading import described, documents, event_table, listing, measured
from tocsin_cluster.secrets import may_show_values, without_values


@dataclass(frozen=True, slots=True)
class Read:
    """What texts say, less in `listed` than in `objects`; `texts` are more than what is in them."""

    listed: tuple[Manifest, ...] = ()
    objects: tuple[Manifest, ...] = ()
    events: tuple[ClusterEvent, ...] = ()
    usage: tuple[Usage, ...] = ()
    texts: tuple[Printed, ...] = ()


def read(printed: Iterable[Printed], namespace: str) -> Read:
    """Return what texts say; `namespace` is meant where none is said. Nothing is raised."""
    read = [_one(one, namespace) for one in printed]
    return Read(
        listed=tuple(o for one in read for o in one.listed),
        objects=tuple(o for one in read for o in one.objects),
        events=tuple(e for one in read for e in one.events),
        usage=tuple(u for one in read for u in one.usage),
        texts=tuple(t for one in read for t in one.texts),
    )


def _one(printed: Printed, namespace: str) -> Read:
    """Logs stay text; of what other programs printed only what cannot be mistaken is read."""
    command = printed.command
    if command.verb == "logs":
        return Read(texts=(printed,))
    whole = documents.objects(printed, namespace)
    if whole or may_show_values(printed):
        kept = () if command.of_kubectl or may_show_values(printed) else (printed,)
        return _of_documents(whole, kept)
    listed = tuple(listing.objects(printed.text, command, namespace))
    if not command.of_kubectl:
        return Read(listed=listed, texts=(printed,))
    where = command.namespace or namespace
    found = list(described.described(printed, namespace))
    told = [event for _, events in found for event in events]
    return Read(
        listed=listed,
        objects=tuple(manifest for manifest, _ in found),
        events=(*told, *event_table.events(printed.text, where)),
        usage=tuple(measured.usage(printed.text, command, where)),
        texts=(printed,),
    )


def _of_documents(whole: tuple[Manifest, ...], texts: tuple[Printed, ...]) -> Read:
    events = tuple(read_event(one) for one in whole if one.ref.kind == "Event")
    kept = tuple(without_values(one) for one in whole if one.ref.kind != "Event")
    return Read(objects=kept, events=events, texts=texts)
