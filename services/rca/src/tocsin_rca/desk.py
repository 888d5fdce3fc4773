"""What people ask without an agent: which agents and tools there are, and one call of a tool."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tocsin_agents.remote.agent import RemoteAgent
from tocsin_agents.tools import results
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import ALLOWED, Mode
from tocsin_agents.tools.port import Identity, Status, ToolContext, ToolResult
from tocsin_agents.tools.toolsets import NamedToolset
from tocsin_agents.tools.wrappers.redacting import masked
from tocsin_cluster.fleet import Fleet
from tocsin_contracts.chat import ChatMode
from tocsin_contracts.toolcalls import (
    AgentHome,
    AgentsAsked,
    AgentsView,
    AgentView,
    CallStatus,
    DirectAnswer,
    DirectCall,
    ToolCallView,
    ToolOffer,
    ToolsAsked,
    ToolsView,
)
from tocsin_kit import logging
from tocsin_kit.errors import TocsinError, TransientError
from tocsin_kit.redaction import Redactor
from tocsin_rca import tools
from tocsin_rca.ports import Clock

MOST_BYTES = 512 * 1024
"""Of an answer: with what is around it, it has to fit into one message of the bus."""

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Hosted:
    """An agent that runs here, with the model that it asks."""

    name: str
    description: str
    model: str
    uses_tools: bool = True


class Calls(Protocol):
    """Keeps who used which tool. Raises TransientError when it cannot."""

    async def record(self, call: ToolCallView) -> None:
        """Keep one."""


class Desk:
    """Answers for people whom the gateway has authenticated, in the mode that it allows them."""

    def __init__(
        self,
        fleet: Callable[[], Fleet],
        toolsets: Callable[[Fleet], Iterable[NamedToolset]],
        redactor: Redactor,
        calls: Calls,
        clock: Clock,
        *,
        hosted: Sequence[Hosted] = (),
    ) -> None:
        self._fleet = fleet
        self._toolsets = toolsets
        self._redactor = redactor
        self._calls = calls
        self._clock = clock
        self._hosted = tuple(hosted)

    async def tools(self, asked: ToolsAsked) -> ToolsView:
        """Return what somebody may use now, and what is away and why."""
        listing = await self._catalogue(asked.mode, Fleet((), self._clock.now)).listing(_who(asked))
        offers = (
            ToolOffer(
                name=tool.spec.name,
                server=tool.spec.name.partition(".")[0],
                capability=tool.spec.capability,
                description=tool.spec.description,
                parameters=tool.spec.parameters,
            )
            for tool in listing.tools
        )
        return ToolsView(mode=asked.mode, tools=tuple(offers), away=listing.away)

    async def agents(self, asked: AgentsAsked) -> AgentsView:
        """Return ours with the tools of their mode, and the card of each that is elsewhere."""
        offered = await self.tools(ToolsAsked(by=asked.by))
        names = tuple(tool.name for tool in offered.tools)
        ours = [
            AgentView(
                name=one.name,
                description=one.description,
                home=AgentHome.OURS,
                model=one.model,
                tools=names if one.uses_tools else (),
            )
            for one in self._hosted
        ]
        toolsets = self._toolsets(Fleet((), self._clock.now))
        others = [await _card(one) for one in toolsets if isinstance(one, RemoteAgent)]
        return AgentsView(agents=(*ours, *others))

    async def call(self, asked: DirectCall) -> DirectAnswer:
        """Use one tool. What might change something is recorded before, or not done."""
        entry = ToolCallView(
            at=self._clock.now(),
            by=asked.by,
            mode=asked.mode,
            tool=asked.tool,
            arguments=masked(dict(asked.arguments), self._redactor),
            status=CallStatus.STARTED,
        )
        if asked.mode is not ChatMode.ASK:
            try:
                await self._calls.record(entry)
            except TransientError as error:
                return _told(results.refused(f"the call cannot be recorded: {error}; try later"))
        started = time.monotonic()
        answer = _told(await self._made(asked))
        ms = round((time.monotonic() - started) * 1000)
        await self._ended(entry.model_copy(update={"status": answer.status, "ms": ms}))
        return answer

    async def _made(self, asked: DirectCall) -> ToolResult:
        fleet, identity = self._fleet(), _who(asked)
        context = ToolContext(
            identity, clusters=await fleet.look(), dry_run=asked.mode is ChatMode.ASK
        )
        return await self._catalogue(asked.mode, fleet).call(asked.tool, asked.arguments, context)

    async def _ended(self, entry: ToolCallView) -> None:
        try:
            await self._calls.record(entry)
        except TransientError as error:
            log.warning("desk.not_recorded", tool=entry.tool, by=entry.by, why=str(error))

    def _catalogue(self, mode: ChatMode, fleet: Fleet) -> Catalogue:
        return tools.catalogue(self._toolsets(fleet), Mode(mode), self._redactor)


def _who(asked: ToolsAsked | DirectCall) -> Identity:
    return Identity(asked.by, capabilities=ALLOWED[Mode(asked.mode)])


def _told(result: ToolResult) -> DirectAnswer:
    """Return a result in a size that the bus carries."""
    answer = DirectAnswer(
        status=CallStatus(result.status),
        data=result.data,
        error=result.error,
        message=result.message,
    )
    if result.status is Status.OK and _bytes(result.data) > MOST_BYTES:
        told = results.failed(f"the answer is over {MOST_BYTES} bytes", "Ask for less.")
        return _told(told)
    return answer


def _bytes(data: Any) -> int:
    return len(json.dumps(data, default=str).encode())


async def _card(agent: RemoteAgent) -> AgentView:
    """Return what an agent elsewhere says of itself now."""
    try:
        card = await agent.card()
    except TocsinError as error:
        return AgentView(name=agent.name, description="", home=AgentHome.EXTERNAL, away=str(error))
    return AgentView(
        name=agent.name,
        description=f"{card.name}: {card.about}",
        home=AgentHome.EXTERNAL,
        tools=(f"{agent.name}.ask",),
        skills=tuple(skill.id for skill in card.skills),
        url=card.url,
    )
