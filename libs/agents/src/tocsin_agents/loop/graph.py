"""The loop's graph: which step follows which. No step is written here."""

from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph

from tocsin_agents.loop.nodes import Nodes
from tocsin_agents.loop.state import LoopState


def build(nodes: Nodes) -> "StateGraph[LoopState, Any, Any, Any]":
    """Think, gate, act, and think again until there is an outcome."""
    graph = StateGraph(LoopState)
    graph.add_node("think", nodes.think)
    graph.add_node("gate", nodes.gate)
    graph.add_node("act", nodes.act)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", _after("gate"), ["gate", END])
    graph.add_edge("gate", "act")
    graph.add_conditional_edges("act", _after("think"), ["think", END])
    return graph


def _after(step: str) -> Callable[[LoopState], str]:
    def route(state: LoopState) -> str:
        return END if state["outcome"] else step

    return route
