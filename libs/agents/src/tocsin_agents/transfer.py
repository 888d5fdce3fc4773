"""Who may hand over to whom: agents as a tree, and the tool with which a model does it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tocsin_agents.agent import Agent, External
from tocsin_agents.models.port import OfferedTool
from tocsin_agents.tools.port import Tool
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line

TRANSFER = "transfer_to_agent"
DESCRIPTION_CHARACTERS = 1000


class Team:
    """An agent and everybody below it. Names are unique, so that a name is an address."""

    def __init__(self, root: Agent) -> None:
        self.root = root
        self._agents: dict[str, Agent] = {}
        self._parents: dict[str, Agent] = {}
        for agent, parent in _walk(root, None):
            if agent.name in self._agents:
                raise PermanentError(f"two agents below {root.name!r} are called {agent.name!r}")
            self._agents[agent.name] = agent
            if parent:
                self._parents[agent.name] = parent
        for external in {one.name for agent in self.agents for one in _externals(agent)}:
            if external in self._agents:
                raise PermanentError(f"two agents below {root.name!r} are called {external!r}")

    def __getitem__(self, name: str) -> Agent:
        return self._agents[name]

    @property
    def agents(self) -> Sequence[Agent]:
        """Everybody, parents before children."""
        return tuple(self._agents.values())

    def reachable(self, name: str) -> Sequence[Agent]:
        """Return whom an agent may hand over to: children, then its parent, then its peers."""
        agent, parent = self._agents[name], self._parents.get(name)
        found = _children(agent)
        if parent and not agent.disallow_transfer_to_parent:
            found.append(parent)
        if parent and not agent.disallow_transfer_to_peers:
            found += [peer for peer in _children(parent) if peer.name != name]
        return tuple(found)

    def elsewhere(self, name: str, tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
        """Return the agents elsewhere that an agent can have asked now, each as its tool."""
        found = _externals(self._agents[name])
        return {one.name: tools[one.tool] for one in found if one.tool in tools}

    def offer(self, name: str, tools: Mapping[str, Tool]) -> OfferedTool | None:
        """Return the tool to hand over with; None for who has nobody to hand over to."""
        elsewhere = self.elsewhere(name, tools)
        who = {other.name: other.description for other in self.reachable(name)}
        who |= {
            other: f"it answers `question`, and you go on. {_described(tool)}"
            for other, tool in elsewhere.items()
        }
        if not who:
            return None
        told = "\n".join(f"- {other}: {about}" for other, about in who.items())
        properties: dict[str, Any] = {"agent": {"type": "string", "enum": list(who)}}
        if elsewhere:
            properties["question"] = {
                "type": "string",
                "description": f"Only for {', '.join(elsewhere)}: all that it must know.",
            }
        return OfferedTool(
            name=TRANSFER,
            description=f"Hand the conversation over to an agent that fits better:\n{told}",
            parameters={
                "type": "object",
                "properties": properties,
                "required": ["agent"],
                "additionalProperties": False,
            },
        )


def _walk(agent: Agent, parent: Agent | None) -> Iterator[tuple[Agent, Agent | None]]:
    yield agent, parent
    for child in _children(agent):
        yield from _walk(child, agent)


def _children(agent: Agent) -> list[Agent]:
    return [one for one in agent.sub_agents if isinstance(one, Agent)]


def _externals(agent: Agent) -> list[External]:
    return [one for one in agent.sub_agents if isinstance(one, External)]


def _described(tool: Tool) -> str:
    return line(tool.spec.description, DESCRIPTION_CHARACTERS)
