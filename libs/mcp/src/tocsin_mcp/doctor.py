"""What is wrong with an MCP server, and what to do about it."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from tocsin_contracts.capability import Capability
from tocsin_mcp.config import Server
from tocsin_mcp.entries import Transport
from tocsin_mcp.errors import LostError, RefusedError
from tocsin_mcp.offers import Offer, Standing, offers
from tocsin_mcp.pins import Pins
from tocsin_mcp.port import Connect, ListedTool

_OTHER = {Transport.SSE: Transport.STREAMABLE_HTTP, Transport.STREAMABLE_HTTP: Transport.SSE}
_ADVICE = {
    "HTTP 401": "its credentials are missing, wrong or too old: see 'headers' and 'headers_from'",
    "HTTP 403": "its credentials are not enough: see 'headers' and 'headers_from'",
    "HTTP 404": "the path of 'url' is not the one it answers at; many use /mcp or /sse",
    "connection attempts failed": "nobody listens there: start it, or correct 'url'",
    "Connection closed": "the program ended: run its command by hand",
    "no connection within": "it is too slow or speaks no MCP: raise 'timeout', or run it by hand",
}


class Mark(StrEnum):
    """Whether a finding is good, worth to know, or wrong."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about a server."""

    mark: Mark
    text: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was found about a server, and its tools if it could be reached."""

    server: Server
    findings: tuple[Finding, ...]
    offers: tuple[Offer, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.mark is not Mark.WRONG for finding in self.findings)


async def examine(server: Server, pins: Pins, connect: Connect) -> Diagnosis:
    """Connect once, look at every tool, and say what is wrong."""
    if server.entry.disabled:
        return Diagnosis(server, (Finding(Mark.NOTE, "it is disabled"),))
    try:
        tools = await _tools(server, connect)
    except LostError as error:
        why = server.redactor.text(str(error))
        found = [Finding(Mark.WRONG, f"not reached at {server.place}: {why}")]
        found += [Finding(Mark.NOTE, advice) for sign, advice in _ADVICE.items() if sign in why]
        return Diagnosis(server, (*found, *await _elsewhere(server, connect)))
    pins.meet(server.name, tools)
    all_offers = offers(server, tools, pins)
    found = [Finding(Mark.OK, f"reached at {server.place} by {server.entry.transport.value}")]
    return Diagnosis(server, (*found, *judged(server, all_offers)), all_offers)


def judged(server: Server, all_offers: Sequence[Offer]) -> Iterator[Finding]:
    """Yield what is to be said of a server that was reached."""
    offered = [offer for offer in all_offers if offer.standing is Standing.OFFERED]
    mark = Mark.OK if offered else Mark.WRONG
    yield Finding(mark, f"{len(offered)} of its {len(all_offers)} tools are offered")
    for offer in all_offers:
        if offer.standing not in (Standing.OFFERED, Standing.NOT_ALLOWED):
            yield Finding(Mark.WRONG, f"{offer.name}: {offer.why}")
        elif offer.standing is Standing.OFFERED and _is_doubted(server, offer):
            yield Finding(
                Mark.NOTE,
                f"{offer.name}: declared as {Capability.READ}, but the server does not say that it "
                "only reads, so it counts as one that writes",
            )
    for key, patterns in (
        ("allow", server.entry.allow),
        ("capabilities", server.entry.capabilities),
    ):
        for pattern in patterns:
            if not any(fnmatchcase(offer.tool.name, pattern) for offer in all_offers):
                yield Finding(Mark.WRONG, f"{pattern!r} in {key!r} fits none of its tools")


def _is_doubted(server: Server, offer: Offer) -> bool:
    declared = [
        cap
        for pattern, cap in server.entry.capabilities.items()
        if fnmatchcase(offer.tool.name, pattern)
    ]
    return declared[:1] == [Capability.READ] and offer.capability is not Capability.READ


async def _tools(server: Server, connect: Connect) -> tuple[ListedTool, ...]:
    try:
        async with asyncio.timeout(server.entry.timeout), connect(server) as peer:
            return await peer.tools()
    except TimeoutError:
        raise LostError(f"no connection within {server.entry.timeout:g} s") from None
    except RefusedError as error:
        raise LostError(str(error)) from error


async def _elsewhere(server: Server, connect: Connect) -> tuple[Finding, ...]:
    """Look whether a server that does not answer by one transport does by another."""
    other = _OTHER.get(server.entry.transport)
    if other is None:
        return ()
    entry = server.entry.model_copy(update={"transport": other})
    try:
        await _tools(replace(server, entry=entry), connect)
    except LostError:
        return ()
    return (Finding(Mark.NOTE, f"it answers by {other.value}: change 'transport'"),)
