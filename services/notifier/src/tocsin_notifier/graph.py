"""The notifier's graph: which step follows which. No step is written here."""

from typing import Any

from langgraph.graph import END, START, StateGraph

from tocsin_notifier.nodes import Nodes
from tocsin_notifier.state import NoticeState


def build(nodes: Nodes) -> "StateGraph[NoticeState, Any, Any, Any]":
    """Render, hold what can wait, then deliver and settle, one channel after the other."""

    def next_channel(state: NoticeState) -> str:
        return "deliver" if state["waiting"] else END

    graph = StateGraph(NoticeState)
    graph.add_node("render", nodes.render)
    graph.add_node("hold", nodes.hold)
    graph.add_node("deliver", nodes.deliver)
    graph.add_node("settle", nodes.settle)
    graph.add_edge(START, "render")
    graph.add_edge("render", "hold")
    graph.add_conditional_edges("hold", next_channel, ["deliver", END])
    graph.add_edge("deliver", "settle")
    graph.add_conditional_edges("settle", next_channel, ["deliver", END])
    return graph


def steps(channels: int) -> int:
    """Return how many steps a message may take to so many channels."""
    return 2 * channels + 5
