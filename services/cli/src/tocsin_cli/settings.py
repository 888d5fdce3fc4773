"""What the command line can be told: the settings of every service, and where the gateway is."""

from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import Field, SecretStr

from tocsin_cli.errors import UnreachableError
from tocsin_cli.hints import command
from tocsin_cli.workspace import Up, Workspace
from tocsin_mcp.settings import McpSettings


class Settings(McpSettings):
    """Read as every service reads its own, so that both sides mean the same bus and store."""

    service: ClassVar[str] = "cli"

    gateway_url: str = Field(default="", description="Gateway to ask; empty: the one in --data.")
    api_token: SecretStr = Field(default=SecretStr(""), description="Token for that gateway.")
    ingest_url: str = Field(default="", description="Ingest to send to; empty: the one in --data.")
    ingest_token: SecretStr = Field(default=SecretStr(""), description="Token for that ingest.")


@dataclass(frozen=True, slots=True)
class Access:
    """An address, and the token that opens it."""

    url: str
    token: str = field(repr=False)


def gateway(settings: Settings, workspace: Workspace) -> Access:
    """Complete what the settings leave empty from what runs in the workspace."""
    token = settings.api_token.get_secret_value()
    other = "a gateway with --gateway-url or TOCSIN_GATEWAY_URL"
    url = settings.gateway_url or _up(workspace, other).gateway_url
    return Access(url, token or workspace.tokens().api_token)


def ingest(settings: Settings, workspace: Workspace) -> Access:
    """Return where alerts go, completed in the same way."""
    token = settings.ingest_token.get_secret_value()
    url = (
        settings.ingest_url
        or _up(workspace, "an ingest with --url or TOCSIN_INGEST_URL").ingest_url
    )
    return Access(url, token or workspace.tokens().ingest_token)


def store(settings: Settings, workspace: Workspace) -> str:
    """Return the address of the run store: the one that is set, or what runs in the workspace."""
    if "redis_url" in settings.model_fields_set:
        return settings.redis_url
    return _up(workspace, "a run store with TOCSIN_REDIS_URL").redis_url


def bus(settings: Settings, workspace: Workspace) -> str:
    """Return the address of the bus, found in the same way."""
    if "nats_url" in settings.model_fields_set:
        return settings.nats_url
    return _up(workspace, "a bus with TOCSIN_NATS_URL").nats_url


def _up(workspace: Workspace, other: str) -> Up:
    up = workspace.up()
    if up is None:
        raise UnreachableError(
            f"nothing runs in {str(workspace.folder)!r}: "
            f"start it with `{command('up')}`, or name {other}"
        )
    return up
