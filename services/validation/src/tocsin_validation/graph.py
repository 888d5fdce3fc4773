"""The validation graph: which step follows which. No step is written here."""

from typing import Any

from langgraph.graph import END, START, StateGraph

from tocsin_validation.nodes import Nodes
from tocsin_validation.state import ValidationState


def build(nodes: Nodes) -> "StateGraph[ValidationState, Any, Any, Any]":
    """Resolve, converge, check, draft; the first step that reaches an answer ends it."""

    def after_resolve(state: ValidationState) -> str:
        return END if state.get("answer") else "converge"

    def after_converge(state: ValidationState) -> str:
        return END if state.get("answer") else "check"

    def after_check(state: ValidationState) -> str:
        return END if state.get("answer") else "draft"

    graph = StateGraph(ValidationState)
    graph.add_node("resolve", nodes.resolve)
    graph.add_node("converge", nodes.converge)
    graph.add_node("check", nodes.check)
    graph.add_node("draft", nodes.draft)
    graph.add_edge(START, "resolve")
    graph.add_conditional_edges("resolve", after_resolve, ["converge", END])
    graph.add_conditional_edges("converge", after_converge, ["check", END])
    graph.add_conditional_edges("check", after_check, ["draft", END])
    graph.add_edge("draft", END)
    return graph
