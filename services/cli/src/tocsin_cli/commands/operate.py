"""`tocsin run rerun|escalate` and `tocsin report`: what operators do to runs beside deciding."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from tocsin_cli.commands.operated import operated
from tocsin_cli.commands.options import Data, GatewayUrl, Json, RunId, Token
from tocsin_cli.hints import command
from tocsin_cli.operating import Operator
from tocsin_cli.terminal import answer, one_line, plain
from tocsin_cli.workspace import DEFAULT

Reason = Annotated[str, typer.Option("--reason", help="Why; it is kept with the run.")]


UNSEEN = "\u200b"
"""The space without a width that keeps a report's words from calling anybody."""


class Form(StrEnum):
    """How a report is written."""

    MARKDOWN = "md"
    JSON = "json"


def rerun(
    run: RunId,
    *,
    reason: Reason = "",
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Have the alerts of a run that has ended looked at again, by a new run."""

    async def ask(operator: Operator) -> None:
        told = await operator.rerun(run, reason)
        again = f"run {one_line(told.run_id)} looks at the alerts of {run} again"
        watch = f"  {command('run', 'watch', one_line(told.run_id), data=data)}"
        answer(told, again, watch, as_json=as_json)

    operated(ask, data, gateway_url, token)


def escalate(
    run: RunId,
    *,
    reason: Reason = "",
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Take a run over that nobody has decided about: it ends with everything known."""

    async def ask(operator: Operator) -> None:
        told = await operator.escalate(run, reason)
        taken = f"run {one_line(told.run_id)} is taken over by {one_line(told.by)}"
        answer(told, taken, as_json=as_json)

    operated(ask, data, gateway_url, token)


def report(
    run: RunId,
    *,
    form: Annotated[
        Form, typer.Option("--format", help="md for people, json for programs.")
    ] = Form.MARKDOWN,
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Print the report of an incident: what happened, why, and what was decided and done."""
    chosen = Form.JSON if as_json else form

    async def ask(operator: Operator) -> None:
        told = await operator.report(run, chosen.value)
        if sys.stdout.isatty():
            told = plain(told.replace(UNSEEN, ""))
        typer.echo(told, nl=not told.endswith("\n"))

    operated(ask, data, gateway_url, token)
