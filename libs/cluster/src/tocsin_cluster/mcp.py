"""A living cluster, through the tools of a Kubernetes MCP server.

The server needs `list_output = "yaml"`: then what it lists comes as objects too.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from tocsin_cluster.api_versions import API_VERSIONS
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.events import ClusterEvent, read_event
from tocsin_cluster.kinds import CLUSTER_WIDE
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import EVERYWHERE, Usage
from tocsin_cluster.printed import Printed
from tocsin_cluster.secrets import without_values
from tocsin_contracts import ObjectRef
from tocsin_kit.errors import TocsinError

LOG_LINES = 2000
MOST_NAMESPACES = 200
_NOT_FOUND = re.compile(r'"[^"]*" (?:in pod "[^"]*" )?not found\s*$')
_EMPTY_LOG = re.compile(r"The pod \S+ in namespace \S+ has not logged any message yet\s*")


class Answer(Protocol):
    """What a tool of the server said."""

    @property
    def text(self) -> str:
        """As text."""

    @property
    def structured(self) -> Mapping[str, Any] | None:
        """As an object, if it is one and was not too long."""

    @property
    def is_error(self) -> bool:
        """Whether the tool failed."""


class McpCluster:
    """Asks a server by `call(tool, arguments)`, as an MCP session has it.

    A server that may not list a whole cluster lists the namespace of its own instead, and says
    nothing. So a namespace is always named, and an empty answer about a whole cluster is an error.
    """

    recorded_at = None

    def __init__(
        self, name: str, call: Callable[[str, Mapping[str, Any]], Awaitable[Answer]]
    ) -> None:
        self.source = f"mcp:{name}"
        self._call = call

    async def get(self, ref: ObjectRef) -> Manifest | None:
        """Return one object as it is now."""
        arguments = {**_kind(ref.kind), "name": ref.name, **_place(ref.kind, ref.namespace)}
        answer = await self._asked("resources_get", arguments)
        if answer is None:
            return None
        return without_values(Manifest(self._object(answer, str(ref))))

    async def list(
        self, kind: str, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[Manifest, ...]:
        """Return the objects of a kind; those of all namespaces are asked for one by one."""
        if namespace == EVERYWHERE and kind not in CLUSTER_WIDE:
            found = await self._everywhere(lambda one: self.list(kind, one, labels))
        else:
            found = await self._list(kind, namespace)
        wanted = (labels or {}).items()
        fitting = (one for one in found if wanted <= one.labels.items())
        return tuple(sorted(fitting, key=lambda one: one.ref.name))

    async def events(self, ref: ObjectRef) -> tuple[ClusterEvent, ...]:
        """Return what was reported about an object."""
        return tuple(one for one in await self.events_in(ref.namespace) if one.about == ref)

    async def events_in(self, namespace: str) -> tuple[ClusterEvent, ...]:
        """Return what was reported in a namespace; of objects in none, what `default` holds."""
        home = namespace or "default"
        events = map(read_event, await self.list("Event", home))
        about = (one for one in events if namespace or not one.about.namespace)
        return tuple(sorted(about, key=lambda one: (one.last_seen is not None, one.last_seen)))

    async def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False
    ) -> str | None:
        """Return the end of a log."""
        arguments = {"namespace": namespace, "name": pod, "container": container}
        answer = await self._asked(
            "pods_log", {**arguments, "previous": previous, "tail": LOG_LINES}
        )
        if answer is None:
            return None
        return "" if _EMPTY_LOG.fullmatch(answer.text) else answer.text

    async def usage(self, namespace: str) -> tuple[Usage, ...]:
        """Return nothing: what the server prints about usage has no fixed form."""
        del namespace
        return ()

    async def printed(self) -> tuple[Printed, ...]:
        """Return nothing: no command was run."""
        return ()

    async def _list(self, kind: str, namespace: str) -> tuple[Manifest, ...]:
        place = _place(kind, namespace)
        answer = await self._asked("resources_list", {**_kind(kind), **place})
        what = f"{kind} of {namespace or 'the cluster'}"
        items = self._object(answer, what).get("items") if answer else None
        if not isinstance(items, list) or not (items or place):
            raise ClusterError(f"{self.source} shows no {what}: it may not be allowed to list them")
        objects = (one for one in items if isinstance(one, Mapping))
        return tuple(without_values(Manifest(one)) for one in objects)

    async def _everywhere(
        self, ask: Callable[[str], Awaitable[tuple[Manifest, ...]]]
    ) -> tuple[Manifest, ...]:
        names = [one.ref.name for one in await self._list("Namespace", "")]
        if len(names) > MOST_NAMESPACES:
            raise ClusterError(
                f"{self.source} has {len(names)} namespaces, more than are asked one by one"
            )
        return sum(await asyncio.gather(*map(ask, names)), ())

    async def _asked(self, tool: str, arguments: Mapping[str, Any]) -> Answer | None:
        """Return what the server says, None for what does not exist."""
        try:
            answer = await self._call(tool, arguments)
        except TocsinError as error:
            raise ClusterError(f"{self.source} was not asked: {error}") from error
        if not answer.is_error:
            return answer
        if _NOT_FOUND.search(answer.text):
            return None
        raise ClusterError(f"{self.source}, {tool}: {answer.text[:400]}")

    def _object(self, answer: Answer, what: str) -> Mapping[str, Any]:
        if answer.structured is None:
            raise ClusterError(
                f"{self.source} shows {what} not as an object: it is too long, or the server lacks "
                "list_output = 'yaml'"
            )
        return answer.structured


def _kind(kind: str) -> dict[str, str]:
    if kind not in API_VERSIONS:
        raise ClusterError(f"objects of the kind {kind!r} are not looked at through MCP")
    return {"apiVersion": API_VERSIONS[kind], "kind": kind}


def _place(kind: str, namespace: str) -> dict[str, str]:
    if kind in CLUSTER_WIDE:
        return {}
    if not namespace:
        raise ClusterError(f"a {kind} lies in a namespace: name it")
    return {"namespace": namespace}
