"""What an investigation may ask by itself: our own tools, all of them reads, and installed ones."""

from collections.abc import Iterable

from tocsin_agents.remote.agent import RemoteAgent
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.mcp_toolset import McpToolset
from tocsin_agents.tools.modes import Mode
from tocsin_agents.tools.port import Toolset
from tocsin_agents.tools.toolsets import NamedToolset, load
from tocsin_agents.tools.wrappers import only_reads, redacted, timed
from tocsin_cluster.fleet import Fleet
from tocsin_gitops.config import GitOps
from tocsin_gitops.source import Source
from tocsin_kit.redaction import Redactor
from tocsin_kit.registry import Registry
from tocsin_rca.ports import History
from tocsin_rca.tools.cluster import ClusterTools
from tocsin_rca.tools.delivery import DeliveryTools
from tocsin_rca.tools.git import GitTools

CALL_SECONDS = 30.0
"""Of a call of what has no limit of its own."""


def registry(
    fleet: Fleet,
    history: History,
    source: Source,
    gitops: GitOps,
    plugins: Iterable[str] = (),
    *,
    outside: Iterable[NamedToolset] = (),
) -> Registry[NamedToolset]:
    """Return the toolsets by the name of their server.

    Beside our own there are those of `outside`, and the installed ones that are named.
    """
    own = (
        ClusterTools(fleet).toolset(),
        DeliveryTools(fleet, gitops.argo_namespaces).toolset(),
        GitTools(history, source, gitops).toolset(),
    )
    return load((*own, *outside), plugins)


def catalogue(toolsets: Iterable[NamedToolset], mode: Mode, redactor: Redactor) -> Catalogue:
    """Return the tools of one mode; what they answer is masked, and none takes too long."""
    return Catalogue(_wrapped(toolsets, redactor), mode)


def conversational(
    toolsets: Iterable[NamedToolset], own: tuple[str, Toolset], mode: Mode, redactor: Redactor
) -> Catalogue:
    """Return the tools of a chat: of all but its own, only what reads, whatever the mode allows."""
    name, toolset = own
    reading = {n: only_reads(one) for n, one in _wrapped(toolsets, redactor).items() if n != name}
    return Catalogue({**reading, name: redacted(toolset, redactor)}, mode)


def _wrapped(toolsets: Iterable[NamedToolset], redactor: Redactor) -> dict[str, Toolset]:
    return {toolset.name: redacted(_timed(toolset), redactor) for toolset in toolsets}


def _timed(toolset: NamedToolset) -> Toolset:
    """Servers and agents elsewhere have the seconds that the operator gave them."""
    if isinstance(toolset, McpToolset | RemoteAgent):
        return toolset
    return timed(toolset, CALL_SECONDS)
