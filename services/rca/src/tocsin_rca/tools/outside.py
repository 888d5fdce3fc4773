"""What an investigation may ask beside our own tools: MCP servers, metrics, agents elsewhere."""

import os
from collections.abc import Mapping

from tocsin_agents.remote.agent import RemoteAgent
from tocsin_agents.tools.mcp_toolset import McpToolset
from tocsin_agents.tools.toolsets import NamedToolset
from tocsin_cluster.mcp import McpCluster
from tocsin_cluster.port import Cluster
from tocsin_kit.clock import SystemClock
from tocsin_kit.errors import PermanentError
from tocsin_mcp.config import load
from tocsin_mcp.pins import Pins
from tocsin_mcp.servers import Servers
from tocsin_rca.settings import Settings
from tocsin_rca.sources.prometheus import Access, Prometheus
from tocsin_rca.tools.metrics import MetricTools


def servers(settings: Settings) -> Servers:
    """Return the MCP servers; none is connected before they are entered."""
    named = load(settings.mcp_servers, os.environ) if settings.mcp_servers else ()
    return Servers(named, Pins(settings.mcp_pins, trust_first=settings.mcp_trust_first))


def clusters(settings: Settings, connected: Servers) -> Mapping[str, Cluster]:
    """Return the living clusters by name; PermanentError for one whose server there is not."""
    known = connected.sessions
    for cluster, server in settings.cluster_servers.items():
        if server not in known:
            raise PermanentError(
                f"TOCSIN_CLUSTER_SERVERS: the cluster {cluster!r} is to be looked at through "
                f"{server!r}, which is no enabled server of TOCSIN_MCP_SERVERS; known: "
                f"{', '.join(known) or 'none'}"
            )
    wanted = settings.cluster_servers.items()
    return {cluster: McpCluster(server, known[server].call) for cluster, server in wanted}


def toolsets(settings: Settings, connected: Servers) -> tuple[NamedToolset, ...]:
    """Return the tools of servers, of the store of metrics, and of external agents.

    A server that a cluster is looked at through is left out: `k8s` asks it, and shows less.
    """
    taken = frozenset(settings.cluster_servers.values())
    return (
        *(McpToolset(one) for name, one in connected.sessions.items() if name not in taken),
        *metrics(settings),
        *agents(settings),
    )


def prometheus(settings: Settings) -> Prometheus | None:
    """Return the store of metrics; None if there is none."""
    if not settings.prometheus_url:
        return None
    return Prometheus(
        Access(
            settings.prometheus_url,
            user=settings.prometheus_user,
            secret=settings.prometheus_token,
            ca=settings.prometheus_ca,
            cluster_label=settings.prometheus_cluster_label,
        )
    )


def metrics(settings: Settings) -> tuple[NamedToolset, ...]:
    """Return the tools of the store of metrics, if there is one."""
    store = prometheus(settings)
    return (MetricTools(store, SystemClock()).toolset(),) if store else ()


def agents(settings: Settings) -> tuple[NamedToolset, ...]:
    """Return the external agents."""
    return tuple(RemoteAgent(name, agent) for name, agent in settings.external_agents.items())


def notice(connected: Servers) -> str:
    """Return what an operator should know of the servers, if anything."""
    away = connected.away.items()
    return "; ".join(f"MCP server {name!r} is away: {why}" for name, why in away)
