"""An external agent as a toolset of one tool: a question in, a typed and cleaned answer out."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from tocsin_agents.remote.card import Card
from tocsin_agents.remote.client import Client
from tocsin_agents.remote.config import ExternalAgent
from tocsin_agents.remote.hosts import Resolve, resolve
from tocsin_agents.remote.streams import Heard
from tocsin_agents.tools import results
from tocsin_agents.tools.names import checked
from tocsin_agents.tools.port import (
    Capability,
    Identity,
    Tool,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from tocsin_contracts.base import Value
from tocsin_kit.errors import TocsinError, TransientError
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import clean, line

_QUESTION = {
    "type": "object",
    "properties": {
        "question": {
            "type": "string",
            "minLength": 1,
            "description": "All that it must know: it sees nothing of this conversation.",
        }
    },
    "required": ["question"],
    "additionalProperties": False,
}
LONGEST_REASON = 500
CARD_SECONDS = 300.0
"""How long a card holds."""

AWAY_SECONDS = 30.0
"""How long an agent is not looked for again."""


class RemoteAnswer(Value):
    """What an external agent answered: its words, cleaned, and the tools that it says it used."""

    agent: str
    text: str
    tools: tuple[str, ...] = ()
    truncated: bool = False


class RemoteAgent:
    """A toolset that is there while its agent shows a card; its one tool is `NAME.ask`."""

    def __init__(
        self,
        name: str,
        config: ExternalAgent,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        find: Resolve = resolve,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = checked(f"{name}.ask").removesuffix(".ask")
        self._config = config
        self._client = Client(config, transport, find)
        self._clock = clock
        self._look_again = -math.inf
        self._tools: Sequence[Tool] = ()
        self._card: Card | None = None
        self._why_not = ""

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return its tool; TransientError while the agent is away or its card is not right."""
        del identity
        if self._clock() >= self._look_again:
            await self._look()
        if self._why_not:
            raise TransientError(self._why_not)
        return self._tools

    async def card(self) -> Card:
        """Return what it says of itself; TransientError as in `tools`."""
        await self.tools(Identity(self.name))
        if self._card is None:
            raise TransientError(f"external agent {self.name!r}: its card is not read yet")
        return self._card

    async def _look(self) -> None:
        """A card holds for a while; so does its absence, or each listing would wait for it."""
        try:
            card = await self._client.card()
        except TocsinError as error:
            self._why_not = f"external agent {self.name!r}: {error}"
            self._look_again = self._clock() + AWAY_SECONDS
        else:
            self._tools, self._why_not = (AskTool(self.name, self._config, self._client, card),), ""
            self._card = card
            self._look_again = self._clock() + CARD_SECONDS


class AskTool:
    """Asks an external agent. What is recognisably a secret is left out of a question."""

    def __init__(self, agent: str, config: ExternalAgent, client: Client, card: Card) -> None:
        self._agent = agent
        self._config = config
        self._client = client
        self._card = card
        self._redactor = Redactor([config.token.get_secret_value()] if config.token else ())
        self.spec = ToolSpec(
            name=f"{agent}.ask",
            description=_described(agent, card),
            parameters=_QUESTION,
            capability=config.capability,
        )

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Return a RemoteAnswer as data; an agent that is away or gives up is an error."""
        if context.dry_run and self.spec.capability is not Capability.READ:
            return results.refused(
                f"in a dry run nobody asks {self._agent!r}: it may change things"
            )
        question = self._redactor.text(str(arguments.get("question", "")))
        try:
            heard = await self._client.ask(self._card, question, context)
        except TocsinError as error:
            return results.broken(error)
        return self._result(heard)

    def _result(self, heard: Heard) -> ToolResult:
        if heard.failure or not heard.text.strip():
            why = line(self._redactor.text(heard.failure), LONGEST_REASON) or "it said nothing"
            return results.failed(f"the agent {self._agent!r} gave no answer: {why}")
        cleaned = clean(self._redactor.text(heard.text), self._config.most_chars)
        answer = RemoteAnswer(
            agent=self._agent,
            text=cleaned.text,
            tools=tuple(heard.tools),
            truncated=cleaned.truncated,
        )
        return results.ok(
            answer.model_dump(mode="json"),
            "The answer was too long and is not whole." if answer.truncated else "",
        )


def _described(agent: str, card: Card) -> str:
    """Say in our words whose words follow."""
    skills = "; ".join(f"{skill.id}: {skill.about}" for skill in card.skills)
    said = f"{card.name}: {card.about}" + (f" Skills: {skills}" if skills else "")
    return line(f"Asks the external agent {agent!r}. It says about itself: {said}", 1000)
