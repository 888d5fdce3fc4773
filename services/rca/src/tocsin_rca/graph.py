"""The rca graph: which step follows which. No step is written here."""

from typing import Any

from langgraph.graph import END, START, StateGraph

from tocsin_rca.nodes import Nodes
from tocsin_rca.state import RcaState


def build(nodes: Nodes) -> "StateGraph[RcaState, Any, Any, Any]":
    """Collect, analyze, conclude."""
    graph = StateGraph(RcaState)
    graph.add_node("collect", nodes.collect)
    graph.add_node("analyze", nodes.analyze)
    graph.add_node("conclude", nodes.conclude)
    graph.add_edge(START, "collect")
    graph.add_edge("collect", "analyze")
    graph.add_edge("analyze", "conclude")
    graph.add_edge("conclude", END)
    return graph
