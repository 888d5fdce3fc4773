"""`tocsin dlq list|show|replay|discard`: messages that services have given up."""

from typing import Annotated

import typer
from rich.console import Console

from tocsin_cli.commands.operated import operated
from tocsin_cli.commands.options import Data, GatewayUrl, Json, Token
from tocsin_cli.operating import Operator
from tocsin_cli.terminal import aligned, answer, one_line, plain, show
from tocsin_cli.workspace import DEFAULT
from tocsin_contracts.operations import DeadLetter

Number = Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="Of the letter.")]

_HEAD = ("number", "given up", "service", "what", "run", "cause")
_CAUSE = 100


def list_letters(
    *,
    limit: Annotated[int, typer.Option(min=1, max=200, help="At most so many.")] = 50,
    before: Annotated[int, typer.Option(min=0, help="Only those with a lower number.")] = 0,
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """List the newest dead letters."""

    async def ask(operator: Operator) -> None:
        page = await operator.letters(limit, before)
        if as_json:
            typer.echo(page.model_dump_json(indent=2))
            return
        if not page.letters:
            show(Console(), "no dead letters")
            return
        show(Console(), *aligned([_HEAD, *map(_row, page.letters)]))
        if page.total > len(page.letters):
            show(Console(), f"{len(page.letters)} of {page.total}")

    operated(ask, data, gateway_url, token)


def show_letter(
    number: Number,
    *,
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Show one dead letter and its message; what looks like a secret is masked."""

    async def ask(operator: Operator) -> None:
        letter = await operator.letter(number)
        answer(letter, *_lines(letter), as_json=as_json)

    operated(ask, data, gateway_url, token)


def replay(
    number: Number,
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept.")] = "",
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Have the message given again; a run that it ended goes on where it was."""

    async def ask(operator: Operator) -> None:
        told = await operator.replay(number, reason)
        goes_on = f"; run {told.run_id} goes on as {told.reopens.value}" if told.reopens else ""
        given = one_line(f"letter {number} of {told.service} is given again{goes_on}")
        answer(told, given, as_json=as_json)

    operated(ask, data, gateway_url, token)


def discard(
    number: Number,
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; required, and kept.")],
    as_json: Json = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
) -> None:
    """Throw a dead letter away; its message will not be given again."""

    async def ask(operator: Operator) -> None:
        told = await operator.discard(number, reason)
        gone = one_line(f"letter {number} of {told.service} is gone, by {told.by}")
        answer(told, gone, as_json=as_json)

    operated(ask, data, gateway_url, token)


def _row(letter: DeadLetter) -> tuple[str, ...]:
    at = letter.at.astimezone().isoformat(" ", "seconds")
    cause = one_line(letter.cause)[:_CAUSE]
    return str(letter.number), at, letter.service, letter.topic, letter.run_id, cause


def _lines(letter: DeadLetter) -> list[str]:
    ended = "it ended the run" if letter.ended_run else "it ended no run"
    tries = f", given {letter.tries} times" if letter.tries else ""
    part = [] if letter.whole else ["only the beginning of the message is kept"]
    return [
        f"letter {letter.number} of {one_line(letter.service)}: {one_line(letter.topic)}",
        f"  run    {one_line(letter.run_id)}; {ended}",
        f"  at     {letter.at.astimezone().isoformat(' ', 'seconds')}{tries}",
        f"  cause  {one_line(letter.cause)}",
        *(f"  {line}" for line in part),
        "",
        plain(letter.body),
    ]
