"""Where a service that uses MCP servers finds them."""

from pathlib import Path

from pydantic import Field

from tocsin_kit.settings import ServiceSettings


class McpSettings(ServiceSettings):
    """What every service that uses MCP servers, and the command line, read alike."""

    mcp_servers: Path | None = Field(
        default=None, description="File that names the MCP servers; without it there are none."
    )
    mcp_pins: Path = Field(
        default=Path(".tocsin/mcp-pins.json"),
        description="File with the accepted schema of each MCP tool.",
    )
    mcp_trust_first: bool = Field(
        default=False,
        description="Accept an MCP tool that was never seen as it is; a changed one never is.",
    )
