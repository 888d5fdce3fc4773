"""Rows under a head: for people as a table, for programs as JSON."""

import json
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from tocsin_cli.terminal import aligned, show


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, as_json: bool) -> None:
    """Print the rows; as JSON each is an object with the head's words as keys."""
    if as_json:
        listed: list[dict[str, Any]] = [dict(zip(head, row, strict=True)) for row in rows]
        typer.echo(json.dumps(listed, indent=2))
        return
    first, *lines = aligned([head, *rows])
    text = Text(first, "bold", no_wrap=True)
    show(Console(), text.append("".join(f"\n{line}" for line in lines), "default"))
