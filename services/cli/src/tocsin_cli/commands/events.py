"""`tocsin events tail`: facts as they happen, over the gateway."""

import asyncio
from contextlib import aclosing
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from tocsin_cli.commands.connect import access
from tocsin_cli.commands.options import Data, GatewayUrl, Json, Token
from tocsin_cli.signals import cancel_on_signal
from tocsin_cli.tailing import Tail, Wanted
from tocsin_cli.terminal import one_line, show
from tocsin_cli.workspace import DEFAULT
from tocsin_contracts import Severity
from tocsin_contracts.feed import FactView

_LOUD = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow"}


def tail(
    *,
    run: Annotated[str, typer.Option("--run", help="Only of this run.")] = "",
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", help="Only of this topic, or beginning so; repeatable."),
    ] = None,
    severity: Annotated[
        list[Severity] | None,
        typer.Option("--severity", help="Only of runs of this severity; repeatable."),
    ] = None,
    since: Annotated[
        int | None,
        typer.Option("--since", min=0, help="Begin after this number; 0 is all that is kept."),
    ] = None,
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Print facts as they happen, until Ctrl-C; as JSON one object a line.

    A connection that breaks is resumed: nothing is missed, and nothing told twice.
    """
    wanted = Wanted(run, topic or (), severity or (), since)
    known = access(data, gateway_url, token)

    async def follow() -> None:
        cancel_on_signal()
        console = Console()
        async with Tail(known) as feed, aclosing(feed.facts(wanted)) as facts:
            async for fact in facts:
                if as_json:
                    typer.echo(fact.model_dump_json())
                else:
                    show(console, line(fact))

    asyncio.run(follow())


def line(fact: FactView) -> Text:
    """Return a fact on one line."""
    text = Text(f"{fact.number:>8}  {fact.at.astimezone():%H:%M:%S}  ", "dim", no_wrap=True)
    severity = fact.severity.value if fact.severity else "-"
    text.append(f"{severity:<8}  ", _LOUD.get(fact.severity, "") if fact.severity else "")
    text.append(f"{one_line(fact.run_id):<17} ", "default")
    return text.append(f"{one_line(fact.topic):<34} {one_line(fact.text)}", "default")
