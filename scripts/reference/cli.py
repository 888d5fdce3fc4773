"""The page of the command line: every command with its arguments and options, from the tree."""

from collections.abc import Iterator
from typing import Any

import typer

from reference import NOTE, cell
from tocsin_cli.app import tree
from tocsin_cli.errors import MEANINGS

HEAD = f"""\
{NOTE}

# The command line

Commands ask the Tocsin that runs in `--data` (`.tocsin` here), or the gateway that `--gateway-url`
or `TOCSIN_GATEWAY_URL` names, with the token of `--token` or `TOCSIN_API_TOKEN`. With `--json` they
print JSON for other programs. Colours are left out where the output is no terminal, and where
`NO_COLOR` is set. What others wrote never steers the terminal: what is not visible is an escape.

`eval "$(tocsin completion bash)"` (or `zsh`) lets a shell complete commands and options;
`tocsin completion fish | source` does so in fish.

## Exit codes

| code | meaning |
|---|---|
"""


def page() -> str:
    """Return the whole page."""
    codes = [f"| {code.value} | {cell(meaning)} |" for code, meaning in MEANINGS.items()]
    return HEAD + "\n".join([*codes, "", *_commands(typer.main.get_command(tree()), "tocsin")])


def _commands(group: Any, name: str) -> Iterator[str]:
    for word, command in group.commands.items():
        full = f"{name} {word}"
        if hasattr(command, "commands"):
            yield from _commands(command, full)
        else:
            yield from _command(command, full)


def _command(command: Any, name: str) -> Iterator[str]:
    context = typer.Context(command)
    usage = [
        piece
        for one in command.params
        if one.param_type_name == "argument"
        for piece in one.get_usage_pieces(context)
    ]
    yield f"## `{' '.join([name, *usage])}`\n"
    yield f"{_words(command.help)}\n"
    records = [one.get_help_record(context) for one in command.params]
    rows = [f"| `{cell(record[0])}` | {cell(record[1])} |" for record in records if record]
    if rows:
        yield "| | |\n|---|---|"
        yield from rows
        yield ""


def _words(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))
