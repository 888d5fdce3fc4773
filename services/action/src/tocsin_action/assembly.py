"""Put together what watches clusters, where there are such: only then its libraries are loaded."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tocsin_action.deploying import Controllers
from tocsin_action.ports import Deploying, Source
from tocsin_action.settings import Settings
from tocsin_cluster.clusters import NamedClusters
from tocsin_gitops.config import GitOps


@dataclass(frozen=True, slots=True)
class Watched:
    """Who tells whether a fix has arrived, what is open meanwhile, and what is wrong with it."""

    deploying: Deploying | None = None
    resources: tuple[AbstractAsyncContextManager[Any], ...] = ()
    notice: Callable[[], str] | None = None


def watched(settings: Settings, gitops: GitOps, source: Source) -> Watched:
    """Return what watches the clusters that the settings name; nothing where they name none."""
    if not settings.cluster_servers:
        return Watched()
    connecting: Any = import_module("tocsin_cluster.connecting")
    servers = connecting.servers(settings)
    clusters = NamedClusters(connecting.living(settings, servers))
    return Watched(
        Controllers(clusters, gitops, source), (servers,), lambda: connecting.notice(servers)
    )
