"""One question to many clusters: each answers for itself, and one that is away hides no other."""

from collections.abc import Awaitable, Callable
from typing import Any

from tocsin_agents.tools import results
from tocsin_agents.tools.port import ToolContext, ToolResult
from tocsin_cluster import port
from tocsin_cluster.context import targets
from tocsin_cluster.fleet import Fleet
from tocsin_contracts import ClusterCap


async def ask(
    fleet: Fleet,
    context: ToolContext,
    cluster: str,
    cap: ClusterCap,
    question: Callable[[port.Cluster], Awaitable[dict[str, Any]]],
) -> ToolResult:
    """Return the data of one cluster, or of many a table by name; an error if none answers."""
    asked = targets(context.clusters, cluster)
    if len(asked) > 1:
        await context.progress(f"asking {', '.join(target.name for target in asked)}")
    answers = await fleet.ask(asked, cap, question)
    missing = {answer.cluster: answer.missing for answer in answers if answer.missing}
    if len(missing) == len(answers):
        why = "; ".join(f"{name}: {reason}" for name, reason in missing.items())
        return results.failed(f"no answer: {why}", "This says nothing about health.")
    if len(answers) == 1:
        return results.ok(answers[0].answer)
    found = {one.cluster: one.answer for one in answers if not one.missing}
    return results.ok({"clusters": found, "missing": missing})
