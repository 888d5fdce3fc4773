"""How a command finds the gateway: its flags, then the environment, then the workspace."""

from dataclasses import dataclass, field

from tocsin_cli.errors import UnreachableError
from tocsin_cli.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Access:
    """An address, and the token that opens it."""

    url: str
    token: str = field(repr=False)


def gateway(url: str, token: str, workspace: Workspace) -> Access:
    """Complete what flags and environment left empty from what runs in the workspace."""
    if url and token:
        return Access(url, token)
    up = workspace.up()
    if not url and up is None:
        raise UnreachableError(
            f"nothing runs in {str(workspace.folder)!r}: start it with `tocsin up`, "
            "or name a gateway with --gateway-url or TOCSIN_GATEWAY_URL"
        )
    return Access(url or (up.gateway_url if up else ""), token or workspace.tokens().api_token)
