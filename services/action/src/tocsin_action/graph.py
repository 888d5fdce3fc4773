"""The action graph: which step follows which. No step is written here."""

from typing import Any

from langgraph.graph import END, START, StateGraph

from tocsin_action.nodes import Nodes
from tocsin_action.state import ActionState


def build(nodes: Nodes) -> "StateGraph[ActionState, Any, Any, Any]":
    """Wait at the gate, apply the approved plan, finish."""
    graph = StateGraph(ActionState)
    graph.add_node("gate", nodes.gate)
    graph.add_node("apply", nodes.apply)
    graph.add_node("finish", nodes.finish)
    graph.add_edge(START, "gate")
    graph.add_edge("gate", "apply")
    graph.add_edge("apply", "finish")
    graph.add_edge("finish", END)
    return graph
