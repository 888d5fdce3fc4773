"""Where a service that looks at clusters finds them."""

from pathlib import Path

from pydantic import Field

from tocsin_mcp.settings import McpSettings


class LivingSettings(McpSettings):
    """What every service that looks at living clusters reads alike."""

    cluster_servers: dict[str, str] = Field(
        default={},
        description="The MCP server that each living cluster is looked at through, by cluster.",
    )


class ClusterSettings(LivingSettings):
    """What a service reads that looks at recorded clusters too."""

    cluster_snapshot: Path = Field(
        default=Path("snapshot"), description="Folder with the recorded state of the cluster."
    )
    cluster_snapshots: Path | None = Field(
        default=None,
        description="Folder with a snapshot for each of several clusters, by name; wins if set.",
    )
