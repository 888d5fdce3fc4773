"""`tocsin replay`: conclude a run again from what rca saw then."""

import os
from enum import StrEnum
from typing import Annotated

import typer

from tocsin_cli.answering import answer
from tocsin_cli.commands.options import Data, RunId
from tocsin_cli.settings import Settings, store
from tocsin_cli.workspace import DEFAULT, Workspace

_STORE = "TOCSIN_REDIS_URL"


class Format(StrEnum):
    """How it is written."""

    TERMINAL = "terminal"
    JSON = "json"


def replay(
    run: RunId,
    *,
    attempt: Annotated[int, typer.Option(min=0, help="Which attempt; 0 is all.")] = 0,
    form: Annotated[Format, typer.Option("--format")] = Format.TERMINAL,
    data: Data = DEFAULT,
) -> None:
    """Conclude a run again from what was recorded of it, and show what is concluded differently.

    Every attempt is concluded again, in their order. What a model and its tools answered is
    played again, to the very same questions only.
    The recording is in the run store: the one in --data, or TOCSIN_REDIS_URL. No cluster, no
    repository and no model is asked, and nothing is written.
    """
    environment = {**os.environ, _STORE: store(Settings.load(), Workspace(data))}
    options = ("--attempt", str(attempt), "--format", form.value)
    typer.echo(answer("rca", "replay", *options, "--", run, environment=environment), nl=False)
