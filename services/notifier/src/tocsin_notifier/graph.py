"""The notifier's graph: which step follows which. No step is written here."""

from typing import Any

from langgraph.graph import END, START, StateGraph

from tocsin_notifier.nodes import Nodes
from tocsin_notifier.state import NoticeState


def build(nodes: Nodes) -> "StateGraph[NoticeState, Any, Any, Any]":
    """Render, then deliver and settle what there is to say."""

    def worth_telling(state: NoticeState) -> str:
        return "deliver" if state["title"] else END

    graph = StateGraph(NoticeState)
    graph.add_node("render", nodes.render)
    graph.add_node("deliver", nodes.deliver)
    graph.add_node("settle", nodes.settle)
    graph.add_edge(START, "render")
    graph.add_conditional_edges("render", worth_telling, ["deliver", END])
    graph.add_edge("deliver", "settle")
    graph.add_edge("settle", END)
    return graph
