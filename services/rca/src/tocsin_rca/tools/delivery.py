"""Questions about what was brought into a namespace: near a time, and how it stands now."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from tocsin_agents.tools.functions import FunctionTool
from tocsin_agents.tools.port import Capability, ToolContext, ToolResult
from tocsin_agents.tools.signatures import Function
from tocsin_agents.tools.toolsets import OwnTools
from tocsin_cluster import port
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.fleet import Fleet
from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ClusterCap
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Told, counted
from tocsin_rca.collectors.rollouts import KEPT_IN
from tocsin_rca.evidence.distances import distance
from tocsin_rca.tools import deliveries
from tocsin_rca.tools.across import ask
from tocsin_rca.tools.arguments import Cluster
from tocsin_rca.tools.deliveries import Delivered, Standing

SERVER = "delivery"
MOST_ROWS = 30
MOST_MINUTES = 60 * 24 * 7
AFTER = timedelta(minutes=15)
_WORKLOADS = tuple(KEPT_IN)
_KEPT = tuple(dict.fromkeys(KEPT_IN.values()))
_FLUX = ("Kustomization", "HelmRelease")

Namespace = Annotated[str, Field(min_length=1, description="The namespace that was changed.")]
Began = Annotated[AwareDatetime, Field(description="When the alert began, with its time zone.")]
Minutes = Annotated[
    int, Field(ge=1, le=MOST_MINUTES, description="How many minutes before it are looked at.")
]


class Recent(Told):
    """What was brought near a time, the newest first."""

    deliveries: tuple[Delivered, ...] = ()
    not_seen: tuple[str, ...] = ()


class State(Told):
    """How everything that delivers into a namespace stands, trouble first."""

    standing: tuple[Standing, ...] = ()
    not_seen: tuple[str, ...] = ()


class _Look:
    """What one cluster shows of a namespace; a kind that cannot be listed is remembered."""

    def __init__(self, cluster: port.Cluster) -> None:
        self._cluster = cluster
        self.not_seen: dict[str, str] = {}

    async def all(self, kinds: Iterable[str], namespaces: Iterable[str]) -> list[Manifest]:
        """Return the objects of the kinds in the namespaces."""
        asked = [(kind, where) for where in namespaces for kind in kinds]
        found = await asyncio.gather(*(self._list(kind, where) for kind, where in asked))
        return [one for listed in found for one in listed]

    async def _list(self, kind: str, namespace: str) -> Sequence[Manifest]:
        try:
            return await self._cluster.list(kind, namespace)
        except ClusterError as error:
            self.not_seen.setdefault(kind, line(f"{kind}: {error}", 200))
            return ()


class DeliveryTools:
    """One method a tool; Applications are looked for where they are believed."""

    def __init__(self, fleet: Fleet, argo_namespaces: Sequence[str]) -> None:
        self._fleet = fleet
        self._argo = tuple(argo_namespaces)

    def toolset(self) -> OwnTools:
        """Return the tools of the server `delivery`."""
        methods: tuple[Function, ...] = (self.recent, self.state)
        return OwnTools(
            SERVER,
            (FunctionTool(method, server=SERVER, capability=Capability.READ) for method in methods),
        )

    async def recent(
        self,
        context: ToolContext,
        namespace: Namespace,
        began: Began,
        minutes: Minutes = 120,
        *,
        cluster: Cluster = "",
    ) -> ToolResult:
        """Show what was deployed into a namespace before an alert began, and shortly after.

        Revisions of workloads with what changed, syncs of Argo CD, releases and commits that Flux
        applied; each with how far it is from the alert.
        """
        start = began - timedelta(minutes=minutes)

        async def question(asked: port.Cluster) -> dict[str, Any]:
            look = _Look(asked)
            found = await self._brought(look, namespace)
            near = [one for one in found if start <= one.at <= began + AFTER]
            near.sort(key=lambda one: one.at, reverse=True)
            return _recent(near, began, look).model_dump(mode="json")

        return await ask(self._fleet, context, cluster, ClusterCap.OBJECTS, question)

    async def state(
        self, context: ToolContext, namespace: Namespace, *, cluster: Cluster = ""
    ) -> ToolResult:
        """Show how Argo CD, Flux and Helm say that what they bring into a namespace stands."""

        async def question(asked: port.Cluster) -> dict[str, Any]:
            look = _Look(asked)
            workloads = await look.all(_WORKLOADS, [namespace])
            found = [deliveries.of_argo(one) for one in await self._applications(look, namespace)]
            flux = await _flux(look, namespace, workloads)
            found += [deliveries.of_flux(one) for one in flux]
            found += deliveries.of_helm(workloads)
            return _state(found, look).model_dump(mode="json")

        return await ask(self._fleet, context, cluster, ClusterCap.OBJECTS, question)

    async def _brought(self, look: _Look, namespace: str) -> list[Delivered]:
        workloads = await look.all(_WORKLOADS, [namespace])
        kept = await look.all(_KEPT, [namespace])
        found = list(deliveries.revisions(workloads, kept))
        for application in await self._applications(look, namespace):
            found += deliveries.synced(application)
        for one in await _flux(look, namespace, workloads):
            helm = one.ref.kind == "HelmRelease"
            found += deliveries.released(one) if helm else deliveries.applied(one)
        return found

    async def _applications(self, look: _Look, namespace: str) -> list[Manifest]:
        found = await look.all(["Application"], self._argo)
        return [one for one in found if deliveries.goes_to(one, namespace)]


async def _flux(look: _Look, namespace: str, workloads: Sequence[Manifest]) -> list[Manifest]:
    """Return what of Flux lies in the namespace, targets it, or made something in it."""
    owners = deliveries.flux_owners(workloads)
    found = await look.all(_FLUX, sorted({namespace, *(where for where, _ in owners)}))
    return [
        one
        for one in found
        if one.ref.namespace == namespace
        or one.dig("spec", "targetNamespace") == namespace
        or (one.ref.namespace, one.ref.name) in owners
    ]


def _recent(near: Sequence[Delivered], began: datetime, look: _Look) -> Recent:
    told = [one.model_copy(update={"when": distance(one.at, began)}) for one in near[:MOST_ROWS]]
    before = sum(one.at <= began for one in near)
    return Recent(
        said=f"{counted(before, 'delivery', 'deliveries')} before the alert began, "
        f"{len(near) - before} in the {AFTER.seconds // 60} minutes after.",
        left_out=len(near) - len(told) or None,
        deliveries=tuple(told),
        not_seen=tuple(look.not_seen.values()),
    )


def _state(found: Sequence[Standing], look: _Look) -> State:
    well = ("ready", "installed", "Healthy, Synced")
    ranked = sorted(found, key=lambda one: (one.state in well, one.by, one.object))
    troubled = sum(one.state not in well for one in ranked)
    return State(
        said=f"{counted(len(found), 'thing delivers', 'things deliver')} into it, "
        f"{troubled} not as it should.",
        left_out=max(0, len(found) - MOST_ROWS) or None,
        standing=tuple(ranked[:MOST_ROWS]),
        not_seen=tuple(look.not_seen.values()),
    )
