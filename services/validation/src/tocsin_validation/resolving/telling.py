"""Say where the object of an alert comes from, for people: how it was found, and by whom."""

from collections.abc import Iterator

from tocsin_contracts import Alert, ObjectRef, Place, SourceKind, Value
from tocsin_gitops.placing import placed
from tocsin_kit.untrusted import line
from tocsin_validation.resolving import identity
from tocsin_validation.resolving.answers import Found, Trace, Unresolved
from tocsin_validation.resolving.checkouts import Checkouts
from tocsin_validation.resolving.identity import Identity
from tocsin_validation.resolving.resolver import Resolver, candidates, cluster_of


class Told(Value):
    """Where an object comes from. Without a repository `sentence` says why it is not known."""

    object: ObjectRef | None = None
    host: str = ""
    repo: str = ""
    branch: str = ""
    place: Place | None = None
    files: tuple[str, ...] = ()
    sentence: str = ""
    trace: tuple[str, ...] = ()


async def tell(resolver: Resolver, checkouts: Checkouts, alert: Alert) -> Told:
    """Return what is known of the source of the object that an alert is about."""
    trace, cluster = Trace(), cluster_of(alert)

    async def declared(ref: ObjectRef) -> bool:
        serving = resolver.serving(cluster, ref)
        return any([await _files(Found(one), ref, checkouts) for one in serving])

    who = await identity.of_alert(alert, resolver.view(cluster), declared, trace)
    if who is None:
        sentence = "Nothing in the alert names an object that the cluster or a repository knows."
        return Told(sentence=sentence, trace=trace.lines)
    return await _of(who, resolver, checkouts, alert, trace)


async def _of(
    who: Identity, resolver: Resolver, checkouts: Checkouts, alert: Alert, trace: Trace
) -> Told:
    answer = await resolver.source(alert, who, checkouts, trace)
    if isinstance(answer, Unresolved):
        return Told(object=who.object, sentence=answer.sentence, trace=answer.trace)
    asked = [(one, await _files(one, who.object, checkouts)) for one in candidates(answer)]
    holding = [(one, files) for one, files in asked if files]
    names = ", ".join(one.repository.name for one, _ in holding or asked)
    if len(holding) != 1:
        many = "may come from any of" if holding else "is declared by none of"
        sentence = f"{who.object} {many}: {names}."
        return Told(object=who.object, sentence=sentence, trace=trace.lines)
    ((one, files),) = holding
    trace.note(one.repository.name, f"declares it in {', '.join(files)}")
    return Told(
        object=who.object,
        host=one.repository.host,
        repo=one.repository.name,
        branch=one.repository.branch,
        place=one.place,
        files=files,
        trace=trace.lines,
    )


async def _files(found: Found, ref: ObjectRef, checkouts: Checkouts) -> tuple[str, ...]:
    """Return the files that an object is made of; of a chart, those that a change belongs into."""
    pinned, place = await checkouts.at(found.repository), found.place
    if place is not None and place.kind is SourceKind.HELM:
        own = f"{place.path}/values.yaml" if place.path else ""
        return tuple(one for one in (own, *place.value_files) if one in pinned.files)
    checkout = pinned.manifests
    ways = checkout.placements(ref.kind, ref.name)
    if place is not None:
        ways = placed(checkout, place, ref.kind, ref.name)
    fits = [one for one in ways if one.namespace in ("", ref.namespace)]
    layers = (layer.file for one in fits for layer in one.layers)
    return tuple(dict.fromkeys((*(one.document.file for one in fits), *layers)))


def plain(told: Told) -> str:
    """Return it as text, its words cleaned."""
    return "\n".join(line(one, 500) if one else "" for one in _lines(told)) + "\n"


def _lines(told: Told) -> Iterator[str]:
    yield str(told.object) if told.object else "no object"
    if told.repo:
        yield f"repository: {told.repo} on {told.host}, branch {told.branch}"
    if told.place:
        yield from _place(told.place)
    if told.files:
        yield f"files: {', '.join(told.files)}"
    if told.sentence:
        yield f"unresolved: {told.sentence}"
    yield ""
    yield "how it was found:"
    yield from (f"- {step}" for step in told.trace)


def _place(place: Place) -> Iterator[str]:
    kind = place.kind.value if place.kind else "not told"
    yield f"source: {place.by}, {kind} {place.path or '(folder not told)'}"
    if place.chart:
        yield f"chart: {place.chart}"
    if place.release:
        yield f"release: {place.release}"
    if place.value_files:
        yield f"values: {', then '.join(place.value_files)}"
    if place.overrides:
        yield f"set by the controller's object: {', '.join(place.overrides)}"
    if place.shared_with:
        yield f"also deployed from there: {', '.join(place.shared_with)}"
