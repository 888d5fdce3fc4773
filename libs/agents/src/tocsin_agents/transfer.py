"""Who may hand over to whom: agents as a tree, and the tool with which a model does it."""

from collections.abc import Iterator, Sequence

from tocsin_agents.agent import Agent
from tocsin_agents.models.port import OfferedTool
from tocsin_kit.errors import PermanentError

TRANSFER = "transfer_to_agent"


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

    def __getitem__(self, name: str) -> Agent:
        return self._agents[name]

    @property
    def agents(self) -> Sequence[Agent]:
        """Everybody, parents before children."""
        return tuple(self._agents.values())

    def reachable(self, name: str) -> Sequence[Agent]:
        """Return whom an agent may hand over to: children, then its parent, then its peers."""
        agent, parent = self._agents[name], self._parents.get(name)
        found = list(agent.sub_agents)
        if parent and not agent.disallow_transfer_to_parent:
            found.append(parent)
        if parent and not agent.disallow_transfer_to_peers:
            found += [peer for peer in parent.sub_agents if peer.name != name]
        return tuple(found)

    def offer(self, name: str) -> OfferedTool | None:
        """Return the tool to hand over with; None for who has nobody to hand over to."""
        others = self.reachable(name)
        if not others:
            return None
        who = "\n".join(f"- {other.name}: {other.description}" for other in others)
        names = {"type": "string", "enum": [other.name for other in others]}
        return OfferedTool(
            name=TRANSFER,
            description=f"Hand the conversation over to an agent that fits better:\n{who}",
            parameters={
                "type": "object",
                "properties": {"agent": names},
                "required": ["agent"],
                "additionalProperties": False,
            },
        )


def _walk(agent: Agent, parent: Agent | None) -> Iterator[tuple[Agent, Agent | None]]:
    yield agent, parent
    for child in agent.sub_agents:
        yield from _walk(child, agent)
