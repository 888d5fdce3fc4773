"""`tocsin mcp list|doctor|accept`: the MCP servers, what they offer, and why not."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from tocsin_cli.commands.options import Json
from tocsin_cli.errors import ExitCode, UsageError
from tocsin_cli.settings import Settings
from tocsin_cli.tables import print_table
from tocsin_cli.terminal import one_line, show
from tocsin_kit import logging
from tocsin_mcp.config import Server, load
from tocsin_mcp.doctor import Diagnosis, Mark, examine
from tocsin_mcp.offers import Offer, Standing
from tocsin_mcp.peers import connect
from tocsin_mcp.pins import Pins

_STYLES = {Mark.OK: "green", Mark.NOTE: "yellow", Mark.WRONG: "bold red"}

File = Annotated[
    Path | None,
    typer.Option("--servers", metavar="FILE", help="Default: TOCSIN_MCP_SERVERS."),
]
PinsFile = Annotated[
    Path | None, typer.Option("--pins", metavar="FILE", help="Default: TOCSIN_MCP_PINS.")
]


def list_servers(file: File = None, pins: PinsFile = None, *, as_json: Json = False) -> None:
    """Print each server, whether it is reached, and how many of its tools are offered."""
    found = _examined(*_configured(file, pins))
    rows = [_server_row(one) for one in found]
    head = ("server", "transport", "state", "offered", "tools", "changed")
    print_table(head, rows, as_json=as_json)


def doctor(file: File = None, pins: PinsFile = None) -> None:
    """Look at every server and say what is wrong and what to do; exit code 1 if anything is."""
    found = _examined(*_configured(file, pins))
    show(Console(), *map(_page, found))
    if not all(one.healthy for one in found):
        raise typer.Exit(ExitCode.FAILED)


def accept(
    server: Annotated[str, typer.Argument(help="A server of the file.")],
    tools: Annotated[
        list[str] | None, typer.Argument(metavar="[TOOL]...", help="Tools of it, by name.")
    ] = None,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Every tool that the file allows, in place of some.")
    ] = False,
    file: File = None,
    pins: PinsFile = None,
) -> None:
    """Accept tools as their server describes them now; what they say of themselves is printed."""
    if bool(tools) == every:
        raise UsageError("give the tools to accept by name, or --all")
    servers, kept = _configured(file, pins)
    chosen = [one for one in servers if one.name == server]
    if not chosen:
        raise UsageError(f"no server {server!r}; known: {', '.join(one.name for one in servers)}")
    (found,) = _examined(chosen, kept)
    if not found.offers:
        raise UsageError(f"{server!r} shows no tools: see `tocsin mcp doctor`")
    for offer in _wanted(found.offers, tools):
        kept.accept(server, offer.tool)
        show(Console(), _accepted(offer))


def _wanted(offers: Sequence[Offer], names: Sequence[str] | None) -> list[Offer]:
    if names is None:
        never = (Standing.NOT_ALLOWED, Standing.UNUSABLE)
        return [offer for offer in offers if offer.standing not in never]
    by_name = {offer.name: offer for offer in offers} | {offer.tool.name: offer for offer in offers}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise UsageError(f"the server has no tool {unknown[0]!r}: see `tocsin tools list`")
    wanted = [by_name[name] for name in names]
    for offer in wanted:
        if offer.standing is Standing.UNUSABLE:
            raise UsageError(f"{one_line(offer.name)!r} cannot be used: {one_line(offer.why)}")
    return wanted


def _configured(file: Path | None, pins: Path | None) -> tuple[Sequence[Server], Pins]:
    settings = Settings.load()
    logging.configure_quietly(settings)
    named = file or settings.mcp_servers
    if named is None:
        raise UsageError("no MCP servers are configured: give --servers or TOCSIN_MCP_SERVERS")
    return load(named, os.environ), Pins(
        pins or settings.mcp_pins, trust_first=settings.mcp_trust_first
    )


def _examined(servers: Iterable[Server], pins: Pins) -> list[Diagnosis]:
    async def look() -> list[Diagnosis]:
        return await asyncio.gather(*(examine(server, pins, connect) for server in servers))

    return asyncio.run(look())


def _server_row(one: Diagnosis) -> tuple[str, ...]:
    entry = one.server.entry
    state = "disabled" if entry.disabled else "reached" if one.offers else "away"
    standings = [offer.standing for offer in one.offers]
    counts = standings.count(Standing.OFFERED), len(standings), standings.count(Standing.CHANGED)
    return one.server.name, entry.transport.value, state, *map(str, counts)


def _page(one: Diagnosis) -> Text:
    text = Text().append(one.server.name, "bold")
    for finding in one.findings:
        text.append(f"\n  {finding.mark.value:<5} ", _STYLES[finding.mark])
        text.append(one_line(finding.text))
    return text


def _accepted(offer: Offer) -> Text:
    text = Text("accepted ").append(one_line(f"{offer.server}.{offer.name}"), "bold")
    text.append(f"\n  {one_line(offer.tool.description) or 'it says nothing of itself'}")
    arguments = ", ".join(offer.tool.parameters.get("properties", {})) or "none"
    return text.append(f"\n  arguments: {one_line(arguments)}\n  {offer.tool.digest}")
