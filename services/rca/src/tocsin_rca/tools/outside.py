"""What an investigation may ask where it is set: MCP servers, metrics, knowledge, agents."""

from tocsin_agents.remote.agent import RemoteAgent
from tocsin_agents.tools.mcp_toolset import McpToolset
from tocsin_agents.tools.toolsets import NamedToolset
from tocsin_kit.clock import SystemClock
from tocsin_mcp.servers import Servers
from tocsin_rca.settings import Settings
from tocsin_rca.sources.knowledge import KnowledgeFolder
from tocsin_rca.sources.knowledge_search import KnowledgeSearch
from tocsin_rca.sources.prometheus import Access, Prometheus
from tocsin_rca.tools.knowledge import KnowledgeTools
from tocsin_rca.tools.metrics import MetricTools


def toolsets(settings: Settings, connected: Servers) -> tuple[NamedToolset, ...]:
    """Return the tools of servers, of metrics and of knowledge, and external agents.

    A server that a cluster is looked at through is left out: `k8s` asks it, and shows less.
    """
    taken = frozenset(settings.cluster_servers.values())
    return (
        *(McpToolset(one) for name, one in connected.sessions.items() if name not in taken),
        *metrics(settings),
        *knowledge(settings),
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
            headers=settings.prometheus_headers,
            cluster_label=settings.prometheus_cluster_label,
        )
    )


def metrics(settings: Settings) -> tuple[NamedToolset, ...]:
    """Return the tools of the store of metrics, if there is one."""
    store = prometheus(settings)
    return (MetricTools(store, SystemClock()).toolset(),) if store else ()


def knowledge(settings: Settings) -> tuple[NamedToolset, ...]:
    """Return the tools of the folder of knowledge, if there is one."""
    folder = settings.knowledge_dir
    return (KnowledgeTools(KnowledgeSearch(KnowledgeFolder(folder))).toolset(),) if folder else ()


def agents(settings: Settings) -> tuple[NamedToolset, ...]:
    """Return the external agents."""
    return tuple(RemoteAgent(name, agent) for name, agent in settings.external_agents.items())
