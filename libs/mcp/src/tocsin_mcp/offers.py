"""Which tools of a server may be used, and as what: decided by the operator, not by the server."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from tocsin_contracts.capability import Capability
from tocsin_mcp.config import Server
from tocsin_mcp.pins import Pins, PinState
from tocsin_mcp.port import ListedTool
from tocsin_mcp.schema import fault

_NAME = re.compile(r"[a-z0-9_-]{1,64}")


class Standing(StrEnum):
    """Whether a tool is offered, and if not, why."""

    OFFERED = "offered"
    NOT_ALLOWED = "not allowed"
    NOT_ACCEPTED = "not accepted"
    CHANGED = "changed"
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool of a server with the name we call it by, what it can do, and how it stands."""

    server: str
    tool: ListedTool
    capability: Capability
    standing: Standing
    why: str = ""

    @property
    def name(self) -> str:
        """The tool's name in lower case, the only form in which names are known here."""
        return self.tool.name.lower()


def offers(server: Server, tools: Sequence[ListedTool], pins: Pins) -> tuple[Offer, ...]:
    """Judge every tool of a server; those that are not offered say why."""
    names = [tool.name.lower() for tool in tools]
    return tuple(_offer(server, tool, pins, names.count(tool.name.lower())) for tool in tools)


async def considered(server: Server, tools: tuple[ListedTool, ...]) -> tuple[ListedTool, ...]:
    """Return the tools once each schema was looked at, which is remembered.

    That can take long where a server is hostile: others have their turn in between.
    """
    for tool in tools:
        if allowed(server, tool):
            fault(tool.parameters)
            await asyncio.sleep(0)
    return tools


def allowed(server: Server, tool: ListedTool) -> bool:
    """Return whether the operator named the tool; without `allow` none is."""
    return any(fnmatchcase(tool.name, pattern) for pattern in server.entry.allow)


def capability(server: Server, tool: ListedTool) -> Capability:
    """Return what the tool can do: what both sides agree on, and the worst where they do not.

    It reads only if the operator says so and the server's hints do not speak against it. A tool
    that the server calls destructive writes, whatever anybody says.
    """
    declared = next(
        (
            cap
            for pattern, cap in server.entry.capabilities.items()
            if fnmatchcase(tool.name, pattern)
        ),
        Capability.WRITE,
    )
    if tool.destructive_hint or (declared is Capability.READ and not tool.read_only_hint):
        return Capability.WRITE
    return declared


def _offer(server: Server, tool: ListedTool, pins: Pins, namesakes: int) -> Offer:
    standing, why = _standing(server, tool, pins, namesakes)
    return Offer(server.name, tool, capability(server, tool), standing, why)


def _standing(server: Server, tool: ListedTool, pins: Pins, namesakes: int) -> tuple[Standing, str]:
    if not allowed(server, tool):
        return Standing.NOT_ALLOWED, f"no pattern in 'allow' of server {server.name!r} names it"
    trouble = _trouble(tool, namesakes)
    if trouble:
        return Standing.UNUSABLE, trouble
    accept = f"look at it, then `tocsin mcp accept {server.name} {tool.name}`"
    match pins.state(server.name, tool):
        case PinState.NEW:
            return Standing.NOT_ACCEPTED, f"nobody has accepted it yet: {accept}"
        case PinState.CHANGED:
            return Standing.CHANGED, f"its description or schema is not what was accepted: {accept}"
        case PinState.PINNED:
            return Standing.OFFERED, ""


def _trouble(tool: ListedTool, namesakes: int) -> str:
    if not _NAME.fullmatch(tool.name.lower()):
        return "its name is not made of letters, digits, '-' and '_'"
    if namesakes > 1:
        return "the server has another tool of the same name"
    return fault(tool.parameters)
