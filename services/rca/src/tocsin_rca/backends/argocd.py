"""Argo CD: how applications stand, what differs, what was deployed when, and when it may sync."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from tocsin_agents.tools.signatures import Function
from tocsin_contracts import FieldPath
from tocsin_gitops.hosts.client import at
from tocsin_gitops.yaml_paths import path_text
from tocsin_kit.untrusted import line
from tocsin_rca.backends import argocd_shapes as shapes
from tocsin_rca.backends.answers import Brief, Limit, Told, counted
from tocsin_rca.backends.client import Client
from tocsin_rca.backends.options import BackendOptions

MOST_FIELDS = 10
_LONGEST = 300
_FINE = ("Healthy", "Synced")
_MAY_HOLD_SECRETS = frozenset({"env", "args", "command", "annotations", "httpHeaders", "data"})
_SET_BY_SERVERS = frozenset({"managedFields", "resourceVersion", "generation", "uid", "status"})
_LISTED = ",".join(
    f"items.{path}"
    for path in (
        *("metadata.name", "metadata.namespace", "spec.destination"),
        *("status.health.status", "status.sync"),
    )
)

App = Annotated[str, Field(min_length=1, max_length=253, description="The application.")]
Namespace = Annotated[
    str, Field(max_length=253, description="Only those that deploy into it; empty for all.")
]


class ArgoCdOptions(BackendOptions):
    """An Argo CD; the token of an account whose role may `get` applications is enough."""

    type: Literal["argocd"]

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = ArgoCdTools(client, self.page)
        return (told.apps, told.app, told.diff, told.windows)


class AppRow(Brief):
    """An application, where it deploys to, and how it stands."""

    name: str
    health: str
    sync: str
    revision: str = ""
    into: str = ""


class Apps(Told):
    """Applications, those in trouble first."""

    apps: tuple[AppRow, ...] = ()


class Deployment(Brief):
    """What was deployed, and when."""

    at: AwareDatetime
    revision: str
    source: str = ""


class AppState(Told):
    """One application: what is wrong with it, and its last deployments, the newest first."""

    problems: tuple[str, ...] = ()
    revision: str = ""
    history: tuple[Deployment, ...] = ()


class Differing(Brief):
    """An object that is not as its source wants it; `fields` say live and wanted."""

    object: str
    fields: tuple[str, ...]
    more: int | None = None


class Diff(Told):
    """What differs between the cluster and the source; of a Secret nothing is shown."""

    objects: tuple[Differing, ...] = ()


class Windows(Told):
    """When an application may be synced."""

    active: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()


class ArgoCdTools:
    """One method a tool."""

    def __init__(self, client: Client, page: str) -> None:
        self._client = client
        self._page = page

    async def apps(self, namespace: Namespace = "", limit: Limit = 20) -> Apps:
        """List applications with health and sync, those in trouble first."""
        answer = await self._client.get(
            shapes.Applications, "/api/v1/applications", {"fields": _LISTED}
        )
        found = [
            one for one in answer.items or () if namespace in ("", one.spec.destination.namespace)
        ]
        found.sort(key=lambda one: (_is_fine(one.status), one.metadata.name))
        troubled = sum(not _is_fine(one.status) for one in found)
        return Apps(
            said=f"{counted(len(found), 'application')}, {troubled} not healthy and synced.",
            link=f"{self._page}/applications",
            left_out=max(0, len(found) - limit) or None,
            apps=tuple(_row(one) for one in found[:limit]),
        )

    async def app(self, name: App, limit: Limit = 10) -> AppState:
        """Show one application: what is wrong with it, and what was deployed when."""
        found = await self._client.get(shapes.Application, f"/api/v1/applications{at(name)}")
        status = found.status
        history = sorted(status.history, key=lambda one: one.at, reverse=True)
        phase = f", its last sync {status.operation.phase}" if status.operation.phase else ""
        return AppState(
            said=f"{line(name)} is {line(status.health.status)} and {line(status.sync.status)}"
            f"{line(phase)}.",
            link=self._link(found.metadata),
            left_out=max(0, len(history) - limit) or None,
            problems=_problems(status),
            revision=_revision(status.sync),
            history=tuple(_deployment(one) for one in history[:limit]),
        )

    async def diff(self, name: App, limit: Limit = 20) -> Diff:
        """Show what differs between the cluster and what the source of an application wants."""
        path = f"/api/v1/applications{at(name)}/managed-resources"
        answer = await self._client.get(shapes.Resources, path)
        every = (_differing(one) for one in answer.items or () if one.kind != "Secret")
        found = [one for one in every if one]
        return Diff(
            said=f"{counted(len(found), 'object differs', 'objects differ')} of "
            f"{len(answer.items or ())}.",
            link=f"{self._page}/applications{at(name)}",
            left_out=max(0, len(found) - limit) or None,
            objects=tuple(found[:limit]),
        )

    async def windows(self, name: App) -> Windows:
        """Show whether an application may be synced now, and which windows decide that."""
        found = await self._client.get(
            shapes.Windows, f"/api/v1/applications{at(name)}/syncwindows"
        )
        return Windows(
            said=f"{line(name)} may {'' if found.may_sync else 'not '}be synced now.",
            link=f"{self._page}/applications{at(name)}",
            active=tuple(map(_window, found.active or ())),
            assigned=tuple(map(_window, found.assigned or ())),
        )

    def _link(self, named: shapes.Named) -> str:
        place = at(named.namespace, named.name) if named.namespace else at(named.name)
        return f"{self._page}/applications{place}"


def _is_fine(status: shapes.Status) -> bool:
    return (status.health.status, status.sync.status) == _FINE


def _revision(one: shapes.Sync | shapes.Deployed) -> str:
    return line(", ".join(one.revisions) or one.revision)


def _row(one: shapes.Application) -> AppRow:
    to = one.spec.destination
    return AppRow(
        name=line(one.metadata.name),
        health=line(one.status.health.status),
        sync=line(one.status.sync.status),
        revision=_revision(one.status.sync),
        into=line(f"{to.name or to.server} {to.namespace}".strip()),
    )


def _problems(status: shapes.Status) -> tuple[str, ...]:
    """Return what is wrong: of the last sync, of the application, of its objects."""
    said = [f"{one.type}: {one.message}" for one in status.conditions]
    if status.operation.phase in ("Failed", "Error"):
        said.insert(0, f"sync {status.operation.phase}: {status.operation.message}")
    for one in status.resources:
        health = one.health.status if one.health else "Healthy"
        if health != "Healthy" or one.status == "OutOfSync":
            why = f": {one.health.message}" if one.health and one.health.message else ""
            said.append(f"{one.kind} {one.namespace}/{one.name} {health}, {one.status}{why}")
    return tuple(line(one, _LONGEST) for one in said[:20])


def _deployment(one: shapes.Deployed) -> Deployment:
    source = line(one.source.path or one.source.chart)
    return Deployment(at=one.at, revision=_revision(one), source=source)


def _differing(one: shapes.Managed) -> Differing | None:
    """Return what differs of an object; what servers set by themselves is no difference."""
    live, wanted = dict(_scalars(one.live)), dict(_scalars(one.wanted))
    found = [
        _field(path, live.get(path), wanted.get(path))
        for path in dict.fromkeys([*live, *wanted])
        if live.get(path) != wanted.get(path) and not _SET_BY_SERVERS.intersection(path)
    ]
    if not found:
        return None
    return Differing(
        object=line(f"{one.kind} {one.namespace}/{one.name}"),
        fields=tuple(found[:MOST_FIELDS]),
        more=len(found) - MOST_FIELDS if len(found) > MOST_FIELDS else None,
    )


def _scalars(tree: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield every value of an object that holds no others, with its path."""
    if isinstance(tree, dict):
        for key, inner in tree.items():
            yield from _scalars(inner, (*path, str(key)))
    elif isinstance(tree, list):
        for place, inner in enumerate(tree):
            yield from _scalars(inner, (*path, place))
    else:
        yield path, tree


def _field(path: FieldPath, live: Any, wanted: Any) -> str:
    told = line(path_text(path))
    if _MAY_HOLD_SECRETS.intersection(path):
        return f"{told} differs"
    return line(f"{told}: {live!r}, wanted {wanted!r}", _LONGEST)


def _window(one: shapes.Window) -> str:
    manual = ", manual syncs too" if one.manual else ""
    return line(f"{one.kind} {one.schedule} for {one.duration}{manual}")
