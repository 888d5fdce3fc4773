"""`tocsin topology`: the streams and consumers that every service relies on."""

import asyncio
from typing import Annotated

import typer

from tocsin_cli.settings import Settings
from tocsin_kit.ensure import ensure


def apply(
    accept: Annotated[
        bool, typer.Option("--accept", help="Change what differs; without it nothing is changed.")
    ] = False,
    replicas: Annotated[
        int, typer.Option("--replicas", min=1, max=5, help="Servers that keep each new stream.")
    ] = 1,
) -> None:
    """Create what is missing on TOCSIN_NATS_URL, and name what differs."""
    settings = Settings.load()
    applied = ensure(
        settings.nats_url, ack_wait=settings.ack_wait, accept=accept, replicas=replicas
    )
    done = asyncio.run(applied)
    for line in done or ("everything is as it should be",):
        typer.echo(line)
