"""`tocsin up`: everything on this machine, until Ctrl-C."""

import asyncio
import contextlib
import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tocsin_cli import stack
from tocsin_cli.commands.config import unread
from tocsin_cli.commands.options import Data
from tocsin_cli.errors import UsageError
from tocsin_cli.hints import command
from tocsin_cli.logs import ConsoleLog
from tocsin_cli.signals import cancel_on_signal
from tocsin_cli.terminal import show
from tocsin_cli.workspace import DEFAULT, Up, Workspace
from tocsin_cli.world import World
from tocsin_kit.redaction import MASK

_USER = re.compile(r"(?<=://)[^/\s,]*@")


def up(
    data: Data = DEFAULT,
    gitops: Annotated[
        Path | None,
        typer.Option(
            envvar="TOCSIN_GITOPS_FILE",
            exists=True,
            dir_okay=False,
            help="The gitops.yaml that allows repositories. Default: the one in DIR.",
        ),
    ] = None,
    snapshot: Annotated[
        Path | None,
        typer.Option(
            envvar="TOCSIN_CLUSTER_SNAPSHOT",
            exists=True,
            file_okay=False,
            help="Folder of a recorded cluster. Default: the one in DIR.",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="KEY=VALUE", help="A setting for the services; repeatable."),
    ] = None,
    *,
    secure: Annotated[
        bool,
        typer.Option("--secure", help="Give each service its own password and rights."),
    ] = False,
) -> None:
    """Start every service on this machine and show what they do, until Ctrl-C."""
    given = settings(env or ())
    wrong = unread(given)
    if wrong:
        raise UsageError(f"--env: {wrong[0]}")
    os.environ.update(given)
    asyncio.run(_run(Workspace(data), World(gitops=gitops, snapshot=snapshot), secure=secure))


def settings(pairs: Sequence[str]) -> dict[str, str]:
    """Read KEY=VALUE pairs."""
    for pair in pairs:
        if "=" not in pair.lstrip("="):
            raise UsageError(f"--env {pair!r}: write KEY=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


async def _run(workspace: Workspace, world: World, *, secure: bool) -> None:
    cancel_on_signal()
    console = Console()
    log = ConsoleLog(console)
    with workspace.claimed():
        log("tocsin", "starting …")
        for note in unread(os.environ):
            log("tocsin", note)
        settled = world.settled(workspace.folder)
        with contextlib.suppress(asyncio.CancelledError):
            async with stack.running(workspace, settled, log, secure=secure) as up:
                show(console, *greeting(up, workspace, settled))
                await asyncio.Event().wait()
        log("tocsin", "everything is stopped")


def greeting(up: Up, workspace: Workspace, world: World) -> tuple[str, ...]:
    """Return what a person needs to know first."""
    folder = workspace.folder
    here = partial(command, data=folder)
    token = f"<what `{here('token', 'ingest')}` prints>"
    return (
        "",
        "Tocsin is up.",
        f"  console   {up.gateway_url}",
        f"  ingest    {up.ingest_url}",
        f"  bus       {without_password(up.nats_url)}",
        f"  store     {without_password(up.redis_url)}",
        f"  data      {folder}",
        f"  tokens    {workspace.tokens_file}",
        f"  gitops    {world.gitops}",
        f"  cluster   {os.environ.get('TOCSIN_CLUSTER_SERVERS') or _recorded(world.snapshot)}",
        "",
        "Send an alert, or the body of any sender:",
        f"  {here('alert', 'send', 'Checkout is down', '--label', 'namespace=shop')}",
        f"  {here('alert', 'send', '--source', 'alertmanager', '--file', 'payload.json')}",
        "",
        "Or let Alertmanager send:",
        "  webhook_configs:",
        f"    - url: {up.ingest_url}/webhook/alertmanager",
        f"      http_config: {{authorization: {{credentials: {token}}}}}",
        "",
        f"Sign in to the console with what `{here('token', 'api')}` prints.",
        f"Or go on here: {here('run', 'list')}",
        f"               {here('run', 'watch', 'RUN')}",
        "Ctrl-C here stops everything.",
        "",
    )


def _recorded(folder: Path | None) -> str:
    if folder and folder.is_dir() and not any(folder.iterdir()):
        return f"{folder} (empty: there is nothing to look at; see docs/bundles.md)"
    return str(folder)


def without_password(url: str) -> str:
    """Return an address, or several, without who logs in there and how."""
    return _USER.sub(f"{MASK}@", url)
