"""Run a command's questions against the gateway that its options name."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from pydantic import SecretStr

from tocsin_cli.client import Gateway
from tocsin_cli.settings import Access, Settings, gateway
from tocsin_cli.workspace import Workspace


def connected(
    ask: Callable[[Gateway], Awaitable[None]],
    data: Path,
    gateway_url: str | None,
    token: str | None,
) -> None:
    """Ask, and close the connection whatever happens."""
    known = access(data, gateway_url, token)

    async def run() -> None:
        async with Gateway(known) as client:
            await ask(client)

    asyncio.run(run())


def access(data: Path, gateway_url: str | None, token: str | None) -> Access:
    """Return where the gateway is, and what opens it; flags come before settings."""
    settings = Settings.load()
    flags = {
        "gateway_url": gateway_url or settings.gateway_url,
        "api_token": SecretStr(token) if token else settings.api_token,
    }
    return gateway(settings.model_copy(update=flags), Workspace(data))
