"""The triage graph: which step follows which. No step is written here."""

from typing import Any

from langgraph.graph import END, START, StateGraph

from tocsin_ingest.nodes import Nodes
from tocsin_ingest.state import TriageState


def build(nodes: Nodes) -> "StateGraph[TriageState, Any, Any, Any]":
    """Judge, then open the incident or suppress the alert."""

    def verdict(state: TriageState) -> str:
        return "suppress" if state["rule"] else "open"

    graph = StateGraph(TriageState)
    graph.add_node("judge", nodes.judge)
    graph.add_node("open", nodes.open)
    graph.add_node("suppress", nodes.suppress)
    graph.add_edge(START, "judge")
    graph.add_conditional_edges("judge", verdict, ["open", "suppress"])
    graph.add_edge("open", END)
    graph.add_edge("suppress", END)
    return graph
