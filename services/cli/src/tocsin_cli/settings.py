"""What the command line can be told: the settings of every service, and where the gateway is."""

from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import Field, SecretStr

from tocsin_cli.errors import UnreachableError
from tocsin_cli.workspace import Workspace
from tocsin_kit.settings import ServiceSettings


class Settings(ServiceSettings):
    """Read as every service reads its own, so that both sides mean the same bus and store."""

    service: ClassVar[str] = "cli"

    gateway_url: str = Field(default="", description="Gateway to ask; empty: the one in --data.")
    api_token: SecretStr = Field(default=SecretStr(""), description="Token for that gateway.")


@dataclass(frozen=True, slots=True)
class Access:
    """An address, and the token that opens it."""

    url: str
    token: str = field(repr=False)


def gateway(settings: Settings, workspace: Workspace) -> Access:
    """Complete what the settings leave empty from what runs in the workspace."""
    token = settings.api_token.get_secret_value()
    url = settings.gateway_url
    if not url:
        up = workspace.up()
        if up is None:
            raise UnreachableError(
                f"nothing runs in {str(workspace.folder)!r}: start it with `tocsin up`, "
                "or name a gateway with --gateway-url or TOCSIN_GATEWAY_URL"
            )
        url = up.gateway_url
    return Access(url, token or workspace.tokens().api_token)
