"""Which Application of Argo CD deploys an object: the one that lists it, for this very cluster.

That an Application deploys to the same namespace says nothing.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import EVERYWHERE, Cluster, Clusters
from tocsin_gitops.placing import placed
from tocsin_gitops.remotes import remote
from tocsin_gitops.yaml_nodes import EditRefused
from tocsin_kit.untrusted import line
from tocsin_validation.resolving.answers import Found, Question, Search, Trace, Unresolved
from tocsin_validation.resolving.argo_apps import (
    Here,
    believed,
    here,
    innermost,
    lists,
    marked,
)
from tocsin_validation.resolving.argo_sources import called, sources
from tocsin_validation.resolving.origins import At, Origin, place

ASKED = "Argo CD"
SECONDS = 20.0
_UNMARKED = "it is not in `argo_namespaces` of gitops.yaml, and the object does not bear its mark"
_GROUP = "argoproj.io/"


async def by_argo(search: Search) -> Found | Unresolved | None:
    """Return what the Application says that lists the object; None if nothing is sure."""
    question, gitops, trace = search.question, search.gitops, search.trace
    apps = await _applications(gitops.argo_of(question.cluster), search.clusters, trace)
    listing = [app for app in apps if lists(app, question.object)]
    near = [app for app in listing if here(app, question.cluster, gitops) is Here.YES]
    mine = _believed(near, search)
    if not mine:
        if not near:
            _note_none(search, apps, listing)
        return None
    inner = innermost(mine, apps)
    names = [called(app) for app in inner]
    chosen = await search.one_of(names) if len(inner) > 1 else 0
    if chosen is None:
        return search.refuse(f"{question.object} is listed by each of: {', '.join(names)}.")
    app = inner[chosen]
    trace.note(ASKED, f"{called(app)} lists {question.object}", _why(app, mine, question))
    return await _source(app, apps, search)


def _believed(near: Sequence[Manifest], search: Search) -> list[Manifest]:
    mark = marked(search.question.shown)
    mine = [app for app in near if believed(app, mark, search.gitops)]
    if others := [app for app in near if app not in mine]:
        why = f"Argo CD marked the object as one of {line(mark)!r}" if mark else _UNMARKED
        search.trace.note(ASKED, f"{_names(others)} claims it and is not believed", why)
    return mine


async def _applications(seat: str, clusters: Clusters, trace: Trace) -> Sequence[Manifest]:
    try:
        view: Cluster = clusters.named(seat)
        async with asyncio.timeout(SECONDS):
            found = await view.list("Application", EVERYWHERE)
    except (ClusterError, TimeoutError) as error:
        why = line(str(error), 300) or f"no answer within {SECONDS:g} s"
        trace.note(ASKED, "its Applications were not seen", why)
        return ()
    return [one for one in found if str(one.raw.get("apiVersion")).startswith(_GROUP)]


def _why(app: Manifest, mine: Sequence[Manifest], question: Question) -> str:
    said = ["status.resources lists it for this cluster"]
    outer = [called(one) for one in mine if one is not app]
    if outer:
        said.append(f"it is the innermost: {', '.join(outer)} deploys it")
    owner = app.owner
    if owner and owner.kind == "ApplicationSet":
        said.append(f"ApplicationSet {owner.name} made it, whose repository is another matter")
    if marked(question.shown):
        said.append("its tracking-id says so too")
    return ", and ".join(said)


def _note_none(search: Search, apps: Sequence[Manifest], listing: Sequence[Manifest]) -> None:
    question, gitops, trace = search.question, search.gitops, search.trace
    if not apps:
        return
    far = [app for app in listing if here(app, question.cluster, gitops) is Here.UNKNOWN]
    if far:
        why = "its destination cannot be told: name the cluster's server in gitops.yaml"
        trace.note(ASKED, f"{_names(far)} lists {question.object}", why)
    elif listing:
        trace.note(ASKED, f"{_names(listing)} lists it", "but deploys to another cluster")
    else:
        why = _near(apps, question)
        trace.note(ASKED, f"none of {len(apps)} Applications lists {question.object}", why)


def _near(apps: Sequence[Manifest], question: Question) -> str:
    space = question.object.namespace
    near = [app for app in apps if app.dig("spec", "destination", "namespace") == space]
    return f"{_names(near)} deploys to its namespace, which proves nothing" if near else ""


def _names(apps: Iterable[Manifest]) -> str:
    return line(", ".join(called(app) for app in apps), 200)


async def _source(
    app: Manifest, apps: Sequence[Manifest], search: Search
) -> Found | Unresolved | None:
    origins = [_shared(one, app, apps) for one in sources(app)]
    if not origins:
        return search.refuse(f"{called(app)} deploys it, but names no source.")
    if len(origins) == 1:
        return await place(origins[0], search)
    return await _one_of(origins, app, search)


async def _one_of(
    origins: Sequence[Origin], app: Manifest, search: Search
) -> Found | Unresolved | None:
    """Of several sources take the one that declares the object, else the only one that may."""
    aside, question = replace(search, trace=Trace()), search.question
    answers = [(one, await place(one, aside)) for one in origins]
    declaring = [
        (one, answer)
        for one, answer in answers
        if isinstance(answer, Found) and await _declares(answer, aside)
    ]
    charts = [(one, answer) for one, answer in answers if not _is_plain(answer)]
    chosen = declaring or charts
    if len(chosen) != 1:
        many = "each of several" if chosen else "none that can be looked into"
        sentence = f"{called(app)} has {len(origins)} sources, and {many} may hold"
        return search.refuse(f"{sentence} {question.object}.")
    why = "declares it" if declaring else "is the only one that others cannot rule out"
    search.trace.note(called(app), f"has {len(origins)} sources", f"one of them {why}")
    return await place(chosen[0][0], search)


def _is_plain(answer: Found | Unresolved | None) -> bool:
    """Whether all that a source makes can be read from its files."""
    if not isinstance(answer, Found) or answer.place is None:
        return False
    return answer.place.kind is not None and answer.place.kind.value != "helm"


async def _declares(answer: Found, search: Search) -> bool:
    ref = search.question.object
    if answer.place is None or not _is_plain(answer):
        return False
    pinned = await search.checkouts.at(answer.repository)
    try:
        found = await asyncio.to_thread(placed, pinned.manifests, answer.place, ref.kind, ref.name)
    except EditRefused:
        return False
    return any(one.namespace in ("", ref.namespace) for one in found)


def _shared(origin: Origin, app: Manifest, apps: Sequence[Manifest]) -> Origin:
    """Name the other Applications of the same files: a change reaches them too."""
    mine, chart = _where(_leads(origin)[-1:]), _where([origin.git] if origin.git else [])
    others = [(called(one), sources(one)) for one in apps if one.ref != app.ref]
    files = tuple(name for name, all_ in others if any(mine & _where(_leads(one)) for one in all_))
    charts = tuple(
        name for name, all_ in others if any(one.git and chart & _where([one.git]) for one in all_)
    )
    return replace(origin, shared_with=files, chart_shared_with=charts)


def _leads(origin: Origin) -> Sequence[At]:
    """What decides what is deployed: the files of values, or the only source."""
    return origin.value_files or ((origin.git,) if origin.git else ())


def _where(ats: Sequence[At]) -> set[tuple[object, str]]:
    return {(remote(at.url), at.path) for at in ats}
