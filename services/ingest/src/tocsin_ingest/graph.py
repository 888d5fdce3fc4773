"""The triage graph: which step follows which. No step is written here."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from langgraph.graph import END, START, StateGraph

from tocsin_ingest.nodes import Nodes
from tocsin_ingest.state import TriageState

STEPS = ("silences", "maintenance", "freezes", "correlation", "storm", "routing", "open")


def build(nodes: Nodes) -> "StateGraph[TriageState, Any, Any, Any]":
    """Ask one rule after the other; a step that decides against the run is the last."""
    graph = StateGraph(TriageState)
    graph.add_node("silences", nodes.silences)
    graph.add_node("maintenance", nodes.maintenance)
    graph.add_node("freezes", nodes.freezes)
    graph.add_node("correlation", nodes.correlation)
    graph.add_node("storm", nodes.storm)
    graph.add_node("routing", nodes.routing)
    graph.add_node("open", nodes.open)
    graph.add_edge(START, STEPS[0])
    for step, after in pairwise(STEPS):
        graph.add_conditional_edges(step, _unless_ended(after), [after, END])
    graph.add_edge("open", END)
    return graph


def _unless_ended(after: str) -> Callable[[TriageState], str]:
    def follow(state: TriageState) -> str:
        return END if state.get("ended") else after

    return follow
