"""The tools of one MCP server, as tools like any other."""

from collections.abc import Mapping, Sequence
from typing import Any

from tocsin_agents.tools import results
from tocsin_agents.tools.port import Identity, Tool, ToolContext, ToolResult, ToolSpec
from tocsin_kit.errors import TocsinError
from tocsin_mcp.errors import NotOfferedError
from tocsin_mcp.offers import Offer, Standing
from tocsin_mcp.port import CallAnswer
from tocsin_mcp.session import Session


class McpTool:
    """One tool of a server; its description is the server's, cleaned and short."""

    def __init__(self, session: Session, offer: Offer) -> None:
        self._session = session
        self._offer = offer
        self.spec = ToolSpec(
            name=f"{offer.server}.{offer.name}",
            description=offer.tool.description,
            parameters=offer.tool.parameters,
            capability=offer.capability,
        )

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Use it; a server that is away, silent or unwilling is a result."""
        try:
            answer = await self._session.call(self._offer.name, arguments, context.progress)
        except NotOfferedError as error:
            return results.refused(str(error))
        except TocsinError as error:
            return results.broken(error)
        return _result(answer)


class McpToolset:
    """What a server offers now; LostError, which is transient, while it is away."""

    def __init__(self, session: Session) -> None:
        self.name = session.server.name
        self._session = session

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return what the operator allowed and accepted; the catalogue knows who may use it."""
        del identity
        offered = (one for one in self._session.offers() if one.standing is Standing.OFFERED)
        return tuple(McpTool(self._session, offer) for offer in offered)


def _result(answer: CallAnswer) -> ToolResult:
    if answer.is_error:
        return results.failed(answer.text or "the tool failed and said nothing")
    data = answer.text if answer.structured is None else dict(answer.structured)
    return results.ok(data, "The answer was too long and is not whole." if answer.truncated else "")
