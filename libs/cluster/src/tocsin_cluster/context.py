"""Which clusters a question is for, and the same said to a model once."""

from datetime import datetime

from tocsin_cluster.errors import ClusterError
from tocsin_contracts import ClusterContext, KnownCluster
from tocsin_kit.untrusted import line

_HOW_TO_NAME = (
    "Name one of them in `cluster`, or leave it out to ask all of them. Each answer stands under "
    "the name of its cluster. A cluster under `missing` did not answer, which is no sign of health."
)


def targets(context: ClusterContext, requested: str = "") -> tuple[KnownCluster, ...]:
    """Return the cluster that was asked for, or all; ClusterError names those that there are."""
    if not context.clusters:
        raise ClusterError("no cluster is connected; go on without one")
    if not requested:
        return context.clusters
    found = tuple(cluster for cluster in context.clusters if cluster.name == requested)
    if not found:
        known = ", ".join(context.names)
        raise ClusterError(f"no cluster {line(requested)!r} is connected; there is {known}")
    return found


def instructions(context: ClusterContext) -> str:
    """Return what the operator says about the clusters, each under its name; maybe nothing."""
    told = [
        f"- {cluster.name}: {' '.join(lines)}"
        for cluster in context.clusters
        if (lines := _instructions(cluster))
    ]
    return "\n".join(told)


def bare(context: ClusterContext) -> ClusterContext:
    """Return the clusters without what the operator says about them."""
    without = (one.model_copy(update={"instructions": ""}) for one in context.clusters)
    return ClusterContext(clusters=tuple(without))


def render(context: ClusterContext, now: datetime) -> str:
    """Return what a model needs to know of the clusters; how to choose only where there are many.

    What a cluster says of itself is one cleaned line.
    """
    if not context.clusters:
        return "No cluster is connected."
    if not context.is_multi:
        (one,) = context.clusters
        return "\n".join((f"One cluster is connected: {_told(one, now)}", *_instructions(one)))
    told = [
        text
        for cluster in context.clusters
        for text in (f"- {_told(cluster, now)}", *(f"  {i}" for i in _instructions(cluster)))
    ]
    head = f"{len(context.clusters)} clusters are connected. {_HOW_TO_NAME}"
    return "\n".join((head, *told))


def _told(cluster: KnownCluster, now: datetime) -> str:
    if not cluster.reachable:
        last = f", last seen {_age(cluster.looked_at, now)}" if cluster.looked_at else ""
        return f"{cluster.name}, not reachable{last}: {line(cluster.away)}"
    version = line(cluster.version, 40) or "of unknown version"
    caps = ", ".join(cluster.caps) or "nothing"
    return f"{cluster.name}, {version}, seen {_age(cluster.looked_at, now)}; it has {caps}."


def _instructions(cluster: KnownCluster) -> tuple[str, ...]:
    return tuple(text for text in map(str.strip, cluster.instructions.splitlines()) if text)


def _age(at: datetime | None, now: datetime) -> str:
    if at is None:
        return "at an unknown time"
    seconds = max(0, round((now - at).total_seconds()))
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} seconds ago"
