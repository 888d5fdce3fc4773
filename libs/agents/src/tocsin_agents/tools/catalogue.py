"""All tools of one conversation or run under one roof: listed, looked up and called by name."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tocsin_agents.tools import results
from tocsin_agents.tools.guard import Guarded
from tocsin_agents.tools.modes import Mode, allows
from tocsin_agents.tools.names import is_name
from tocsin_agents.tools.port import Identity, Tool, ToolContext, ToolResult, Toolset
from tocsin_kit import logging
from tocsin_kit.errors import TocsinError, TransientError
from tocsin_kit.untrusted import line

LISTING_SECONDS = 5.0

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Listing:
    """What can be used now; `away` says of a toolset, or of one tool of it, why it cannot."""

    tools: tuple[Tool, ...]
    away: Mapping[str, str]


class Catalogue:
    """Several toolsets as one. Each tool in it is guarded, however it is reached.

    A toolset that does not answer within `listing_seconds` hides no other. Of two tools with one
    name, that of the earlier toolset is kept.
    """

    def __init__(
        self,
        toolsets: Mapping[str, Toolset],
        mode: Mode,
        *,
        listing_seconds: float = LISTING_SECONDS,
    ) -> None:
        self._toolsets = dict(toolsets)
        self._mode = mode
        self._listing_seconds = listing_seconds
        self._homes: dict[str, str] = {}
        self._away: Mapping[str, str] = {}

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return what the identity may use in this mode and is connected now.

        What is away is logged, once for each reason.
        """
        listing = await self.listing(identity)
        for what, why in listing.away.items():
            if self._away.get(what) != why:
                log.warning("tools.away", tools=what, why=why)
        self._away = listing.away
        return listing.tools

    async def listing(self, identity: Identity) -> Listing:
        """Return the tools, and what is away and why."""
        answers = await asyncio.gather(*(self._ask(home, identity) for home in self._toolsets))
        found: dict[str, Tool] = {}
        homes: dict[str, str] = {}
        away: dict[str, str] = {}
        for home, answer in zip(self._toolsets, answers, strict=True):
            if isinstance(answer, str):
                away[home] = answer
                continue
            for tool in answer:
                name = tool.spec.name
                why_not = _flaw(name, homes)
                if why_not:
                    away[f"{home}: {line(name)}"] = why_not
                else:
                    found[name], homes[name] = tool, home
        self._homes |= homes
        return Listing(self._guarded(found.values(), identity), away)

    async def call(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult:
        """Use a tool by its name; one that is not listed for the identity is refused."""
        if name not in self._homes:
            await self.listing(context.identity)
        home = self._homes.get(name)
        answer = () if home is None else await self._ask(home, context.identity)
        if isinstance(answer, str):
            return results.broken(TransientError(f"{name} is away: {answer}"))
        tool = next((tool for tool in answer if tool.spec.name == name), None)
        if tool is None:
            return results.refused(f"there is no tool {line(name)!r} here; use one that is listed")
        return await Guarded(tool, self._mode, context.identity).call(arguments, context)

    async def _ask(self, home: str, identity: Identity) -> Sequence[Tool] | str:
        """Return the tools of one toolset, or why it gives none."""
        try:
            async with asyncio.timeout(self._listing_seconds):
                return await self._toolsets[home].tools(identity)
        except TimeoutError:
            return f"it did not say within {self._listing_seconds:g} seconds what it can do"
        except TocsinError as error:
            return str(error)

    def _guarded(self, tools: Iterable[Tool], identity: Identity) -> tuple[Tool, ...]:
        return tuple(
            Guarded(tool, self._mode, identity)
            for tool in tools
            if allows(self._mode, identity, tool.spec.capability)
        )


def _flaw(name: str, homes: Mapping[str, str]) -> str:
    """Return why no tool of that name can be added, or nothing."""
    if not is_name(name):
        return "a tool is called server.tool, in small letters, digits, _ and -"
    if name in homes:
        return f"{homes[name]} has a tool of that name already; rename or prefix one"
    return ""
