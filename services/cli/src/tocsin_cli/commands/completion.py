"""`tocsin completion`: what makes a shell complete our commands and options."""

from enum import StrEnum
from typing import Annotated

import typer
from typer.completion import shell_complete

NAME = "tocsin"
VARIABLE = "_TOCSIN_COMPLETE"
"""Where a shell says that it wants to complete a line; the library expects this name."""


class Shell(StrEnum):
    """Shells that there is a script for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    context: typer.Context,
    shell: Annotated[Shell, typer.Argument(help="Which shell is to complete.")],
) -> None:
    """Print a script for a shell: `eval "$(tocsin completion bash)"` in its start-up file."""
    shell_complete(context.find_root().command, {}, NAME, VARIABLE, f"source_{shell.value}")
