"""Follow one run: what is new about it is shown once, as it becomes known."""

import asyncio
from collections.abc import AsyncGenerator

from rich.console import Console

from tocsin_cli.client import Gateway
from tocsin_cli.render import sections
from tocsin_cli.terminal import show
from tocsin_contracts.views import RunView

POLL_SECONDS = 0.3


class Live:
    """Shows each section of a run when it first appears."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown: set[str] = set()

    def update(self, view: RunView) -> None:
        """Show what was not shown before."""
        for section in sections(view):
            if section.key not in self._shown:
                self._shown.add(section.key)
                show(self._console, *section.shown, "")


async def follow(gateway: Gateway, run_id: str) -> AsyncGenerator[RunView, None]:
    """Yield the run as it is, again and again, for as long as somebody listens."""
    while True:
        yield await gateway.run(run_id)
        await asyncio.sleep(POLL_SECONDS)
