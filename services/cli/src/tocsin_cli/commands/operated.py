"""Run a command's questions as an operator against the gateway that its options name."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from tocsin_cli import operating
from tocsin_cli.commands.connect import access
from tocsin_cli.operating import Operator


def operated(
    ask: Callable[[Operator], Awaitable[None]],
    data: Path,
    gateway_url: str | None,
    token: str | None,
) -> None:
    """Ask what operators may, and close the connection whatever happens."""
    known = access(data, gateway_url, token)

    async def run() -> None:
        async with operating.Operator(known) as client:
            await ask(client)

    asyncio.run(run())
