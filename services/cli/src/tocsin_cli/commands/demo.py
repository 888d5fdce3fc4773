"""`tocsin demo`: the whole pipeline on a recorded incident, checked against git at the end."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from tocsin_cli import stack
from tocsin_cli.demo import stage
from tocsin_cli.demo.proof import Claim, all_hold
from tocsin_cli.demo.stage import Stage
from tocsin_cli.demo.story import story
from tocsin_cli.hints import command
from tocsin_cli.logs import FileLog
from tocsin_cli.signals import cancel_on_signal
from tocsin_cli.terminal import show
from tocsin_cli.workspace import DEFAULT, Workspace
from tocsin_kit.errors import PermanentError, TocsinError

_TAIL = 12


def demo(
    yes: Annotated[bool, typer.Option("--yes", help="Approve without asking.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave it up until Ctrl-C.")] = False,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="Folder of the demo; emptied first.")
    ] = DEFAULT / "demo",
) -> None:
    """Watch an alert become a pull request: a recorded cluster, a made-up repository, no keys."""
    _forget_settings()
    asyncio.run(_run(Workspace(data), says_yes=yes, keep=keep))


def _forget_settings() -> None:
    """A demo must never happen on the bus or the repositories that the environment names."""
    for name in [name for name in os.environ if name.startswith("TOCSIN_")]:
        del os.environ[name]


async def _run(workspace: Workspace, *, says_yes: bool, keep: bool) -> None:
    cancel_on_signal()
    console = Console()
    with workspace.fresh(), FileLog(workspace.folder / "logs") as log:
        scene = stage.build(workspace.folder, datetime.now(UTC))
        async with AsyncExitStack() as everything:
            show(console, "Starting bus, store and six services …")
            starting = stack.running(workspace, scene.world, log, usual={})
            up = await everything.enter_async_context(starting)
            telling = story(scene, console, up, workspace.tokens(), says_yes=says_yes)
            try:
                claims = await (await everything.enter_async_context(telling)).tell()
            except TocsinError as error:
                raise PermanentError(f"{error}\n\n{log.tails(_TAIL)}") from error
            show(console, "Checked with git and the file system:", *map(_told, claims), "")
            show(console, *look_further(scene, workspace, keep=keep))
            if not all_hold(claims):
                raise PermanentError("the demo did not turn out as it should")
            if keep:
                await asyncio.Event().wait()


def _told(claim: Claim) -> Text:
    mark = Text("  ok  ", "green") if claim.holds else Text("  NO  ", "bold red")
    return mark.append(claim.sentence, "default")


def look_further(scene: Stage, workspace: Workspace, *, keep: bool) -> Sequence[str]:
    """Return commands that show more of what is there."""
    git = f"  git --git-dir {scene.git_dir}"
    folders = [scene.records] if scene.records.exists() else []
    ways = (
        "Look further:",
        f"{git} log --oneline --graph --all",
        f"{git} show main~1",
        f"  ls {' '.join(map(str, [*folders, workspace.folder / 'logs']))}",
    )
    if not keep:
        return (*ways, f"  {command('demo', '--keep')}    leaves everything up")
    return (*ways, f"  {command('run', 'list', data=workspace.folder)}", "Ctrl-C stops everything.")
