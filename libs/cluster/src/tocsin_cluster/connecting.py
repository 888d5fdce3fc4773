"""From the settings to the clusters: alive behind MCP servers, recorded in folders, or both."""

import os
from collections.abc import Mapping

from tocsin_cluster.clusters import NamedClusters, OneCluster, RecordedClusters
from tocsin_cluster.mcp import McpCluster
from tocsin_cluster.port import Cluster, Clusters
from tocsin_cluster.settings import ClusterSettings, LivingSettings
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_kit.errors import PermanentError
from tocsin_mcp.config import load
from tocsin_mcp.pins import Pins
from tocsin_mcp.servers import Servers
from tocsin_mcp.settings import McpSettings


def servers(settings: McpSettings) -> Servers:
    """Return the MCP servers; none is connected before they are entered."""
    named = load(settings.mcp_servers, os.environ) if settings.mcp_servers else ()
    return Servers(named, Pins(settings.mcp_pins, trust_first=settings.mcp_trust_first))


def clusters(settings: ClusterSettings, connected: Servers) -> Clusters:
    """Return the clusters that the settings name; PermanentError if one of them is not there."""
    folder = settings.cluster_snapshots
    recorded = RecordedClusters(folder) if folder is not None else None
    if settings.cluster_servers:
        return NamedClusters(living(settings, connected), recorded)
    return recorded or OneCluster(SnapshotCluster(settings.cluster_snapshot))


def living(settings: LivingSettings, connected: Servers) -> Mapping[str, Cluster]:
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


def notice(connected: Servers) -> str:
    """Return what an operator should know of the servers, if anything."""
    away = connected.away.items()
    return "; ".join(f"MCP server {name!r} is away: {why}" for name, why in away)
