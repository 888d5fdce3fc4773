"""`tocsin run list|show|watch`: look at runs."""

import json
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tocsin_cli import render
from tocsin_cli.client import Gateway
from tocsin_cli.commands.connect import connected
from tocsin_cli.commands.options import Data, GatewayUrl, Json, RunId, Token
from tocsin_cli.hints import command
from tocsin_cli.live import Live, follow
from tocsin_cli.terminal import show
from tocsin_cli.workspace import DEFAULT
from tocsin_contracts import RunState
from tocsin_contracts.views import ApprovalState, RunView


def list_runs(
    *,
    state: Annotated[RunState | None, typer.Option(help="Only runs in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="At most so many.")] = 50,
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """List the newest runs."""

    async def ask(gateway: Gateway) -> None:
        runs = await gateway.runs(state, limit)
        if as_json:
            typer.echo(json.dumps([run.model_dump(mode="json") for run in runs], indent=2))
        else:
            show(Console(), render.run_list(runs) if runs else "no runs")

    connected(ask, data, gateway_url, token)


def show_run(
    run: RunId,
    *,
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Show all that is known about one run."""

    async def ask(gateway: Gateway) -> None:
        view = await gateway.run(run)
        if as_json:
            typer.echo(view.model_dump_json(indent=2))
            return
        console = Console()
        Live(console).update(view)
        show(console, render.timeline(view))
        show(console, *_next(view, data))

    connected(ask, data, gateway_url, token)


def watch(
    run: RunId,
    *,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Follow one run until it ends or its pull request is open."""

    async def ask(gateway: Gateway) -> None:
        live, told = Live(Console()), list[str]()
        async with aclosing(follow(gateway, run)) as views:
            async for view in views:
                live.update(view)
                ways = _next(view, data)
                if ways != told:
                    show(Console(), *ways)
                told = ways
                if view.finished is not None or view.pull_request is not None:
                    return

    connected(ask, data, gateway_url, token)


def _next(view: RunView, data: Path) -> list[str]:
    """Return what to say to a run that waits for a person."""
    if view.budget is not None and view.budget.waits:
        more, end = (
            command("run", "extend", view.run_id, *answer, data=data)
            for answer in (("--calls", "10"), ("--end",))
        )
        return ["", "Give it more, or let it end:", f"  {more}", f"  {end}"]
    if view.approval is None or view.approval.state is not ApprovalState.PENDING:
        return []
    approve = command("run", "approve", view.run_id, data=data)
    reject = command("run", "reject", view.run_id, "--reason", "WHY", data=data)
    return ["", "Decide:", f"  {approve}", f"  {reject}"]
