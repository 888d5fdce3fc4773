"""Questions about clusters: objects, lists, events and logs; Secrets are in no answer."""

from typing import Annotated, Any

from pydantic import Field

from tocsin_agents.tools.functions import FunctionTool
from tocsin_agents.tools.port import Capability, ToolContext, ToolResult
from tocsin_agents.tools.signatures import Function
from tocsin_agents.tools.toolsets import OwnTools
from tocsin_cluster import port
from tocsin_cluster.fleet import Fleet
from tocsin_contracts import ClusterCap, ObjectRef
from tocsin_kit.untrusted import clean
from tocsin_rca.collectors.excerpts import excerpt
from tocsin_rca.tools.across import ask
from tocsin_rca.tools.arguments import Cluster, Kind, Name, Namespace, readable
from tocsin_rca.tools.rows import row, said

SERVER = "k8s"
MOST_OBJECTS = 100
MOST_EVENTS = 50
LONGEST_LOG = 64_000

Labels = Annotated[
    dict[str, str] | None, Field(description="Labels that each must carry, with their values.")
]
Pod = Annotated[str, Field(description="The name of the pod.")]
Container = Annotated[str, Field(description="The name of the container.")]
Previous = Annotated[
    bool, Field(description="Whether to show the log from before the last restart instead.")
]


class ClusterTools:
    """One method a tool. Of one cluster the answer is the data; of many it is one for each."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def toolset(self) -> OwnTools:
        """Return the tools of the server `k8s`."""
        methods: dict[str, Function] = {
            "get": self.get,
            "list": self.list_objects,
            "events": self.events,
            "logs": self.logs,
        }
        return OwnTools(
            SERVER,
            (
                FunctionTool(method, server=SERVER, capability=Capability.READ, name=name)
                for name, method in methods.items()
            ),
        )

    async def get(
        self,
        context: ToolContext,
        kind: Kind,
        name: Name,
        namespace: Namespace = "",
        *,
        cluster: Cluster = "",
    ) -> ToolResult:
        """Show one object of a cluster: labels, containers, and what of it explains faults.

        Environment, commands, annotations and the data of ConfigMaps are left out. What is
        partial was read from a table or a description: what it does not show may be there.
        """
        ref = ObjectRef(kind=readable(kind), namespace=namespace, name=name)

        async def question(asked: port.Cluster) -> dict[str, Any]:
            found = await asked.get(ref)
            if found is None:
                return {"exists": False}
            partial = {} if found.whole else {"partial": True}
            return {"exists": True, "object": excerpt(found), **partial}

        return await ask(self._fleet, context, cluster, ClusterCap.OBJECTS, question)

    async def list_objects(
        self,
        context: ToolContext,
        kind: Kind,
        namespace: Namespace = "",
        labels: Labels = None,
        *,
        cluster: Cluster = "",
    ) -> ToolResult:
        """List the objects of a kind in one namespace, each with its labels and how it is."""
        wanted = readable(kind)

        async def question(asked: port.Cluster) -> dict[str, Any]:
            found = await asked.list(wanted, namespace, labels)
            shown = [row(manifest) for manifest in found[:MOST_OBJECTS]]
            return {"objects": shown, "left_out": len(found) - len(shown)}

        return await ask(self._fleet, context, cluster, ClusterCap.OBJECTS, question)

    async def events(
        self,
        context: ToolContext,
        kind: Kind,
        name: Name,
        namespace: Namespace = "",
        *,
        cluster: Cluster = "",
    ) -> ToolResult:
        """Show what the cluster reported about one object, the oldest first."""
        ref = ObjectRef(kind=readable(kind), namespace=namespace, name=name)

        async def question(asked: port.Cluster) -> dict[str, Any]:
            found = await asked.events(ref)
            shown = [said(event) for event in found[-MOST_EVENTS:]]
            return {"events": shown, "left_out": len(found) - len(shown)}

        return await ask(self._fleet, context, cluster, ClusterCap.EVENTS, question)

    async def logs(
        self,
        context: ToolContext,
        namespace: Namespace,
        pod: Pod,
        container: Container,
        *,
        previous: Previous = False,
        cluster: Cluster = "",
    ) -> ToolResult:
        """Show the log of a container: its beginning and its end, if it is long."""

        async def question(asked: port.Cluster) -> dict[str, Any]:
            text = await asked.logs(namespace, pod, container, previous=previous)
            if text is None:
                return {"exists": False}
            return {"exists": True, "log": clean(text, LONGEST_LOG).text}

        return await ask(self._fleet, context, cluster, ClusterCap.LOGS, question)
