"""`tocsin backup` and `tocsin restore`: a whole deployment in one folder."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tocsin_cli import settings
from tocsin_cli.commands.options import Data
from tocsin_cli.settings import Settings
from tocsin_cli.terminal import show
from tocsin_cli.workspace import DEFAULT, Workspace
from tocsin_kit import backup as kit

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the backup.")]


def backup(folder: Folder, *, data: Data = DEFAULT) -> None:
    """Save streams and store into a new folder; services may run meanwhile.

    It holds everything that people and senders told Tocsin: keep it as you keep secrets.
    Repositories, settings and tokens are not in it.
    """
    known, workspace = Settings.load(), Workspace(data)
    saved = asyncio.run(
        kit.back_up(
            settings.bus(known, workspace),
            settings.store(known, workspace),
            folder,
            prefix=known.redis_prefix,
        )
    )
    show(Console(), f"{_counts(saved)} are in {str(folder)!r}")


def restore(
    folder: Folder,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Lose what bus and store hold now.")
    ] = False,
    data: Data = DEFAULT,
) -> None:
    """Put a backup back, where no service runs and bus and store are empty.

    Every file is checked before anything is touched. Afterwards `tocsin topology apply`, then
    start the services: they go on where they were when it was saved.
    """
    known, workspace = Settings.load(), Workspace(data)
    found = asyncio.run(
        kit.restore(
            settings.bus(known, workspace),
            settings.store(known, workspace),
            folder,
            prefix=known.redis_prefix,
            force=force,
        )
    )
    show(Console(), f"{_counts(found)} of {found.at:%Y-%m-%d %H:%M} UTC are back")


def _counts(found: kit.Backup) -> str:
    return f"{found.messages} messages and {found.keys} records"
