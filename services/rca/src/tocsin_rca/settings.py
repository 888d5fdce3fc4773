"""Settings of the rca service."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field, SecretStr

from tocsin_agents.remote.config import ExternalAgent
from tocsin_mcp.settings import McpSettings


class Settings(McpSettings):
    """Everything an operator can change about rca."""

    service: ClassVar[str] = "rca"

    rca_port: int = Field(default=9483, ge=0, le=65535, description="Port of the probes.")
    gitops_file: Path = Field(
        default=Path("gitops.yaml"), description="Repositories and write policy."
    )
    cluster_snapshot: Path = Field(
        default=Path("snapshot"), description="Folder with the recorded state of the cluster."
    )
    cluster_snapshots: Path | None = Field(
        default=None,
        description="Folder with a snapshot for each of several clusters, by name; wins if set.",
    )
    cluster_servers: dict[str, str] = Field(
        default={},
        description="The MCP server that each living cluster is looked at through, by cluster.",
    )
    external_agents: dict[str, ExternalAgent] = Field(
        default={}, description="Agents elsewhere that may be asked, by name: docs/agents.md."
    )
    toolsets: tuple[str, ...] = Field(
        default=(), description="Toolsets of installed packages that are loaded, by name."
    )
    max_rca_attempts: int = Field(
        default=3, ge=1, description="Hypotheses that may be rejected before a person takes over."
    )
    investigation_seconds: float = Field(
        default=60, gt=0, description="Seconds one investigation may ask questions for."
    )
    investigation_calls: int = Field(
        default=200, ge=1, description="Questions one investigation may ask."
    )
    prometheus_url: str = Field(
        default="", description="Prometheus, or what speaks its API, that is asked; empty: none."
    )
    prometheus_user: str = Field(
        default="", description="User for that Prometheus, if it wants a password."
    )
    prometheus_token: SecretStr | None = Field(
        default=None, description="Bearer token for it, or the password of that user."
    )
    prometheus_ca: Path | None = Field(
        default=None, description="File of the authorities that its certificate may be from."
    )
    prometheus_cluster_label: str = Field(
        default="",
        pattern=r"^([a-zA-Z_][a-zA-Z0-9_]*)?$",
        description="Label that tells clusters apart in it; empty: it knows only one.",
    )
