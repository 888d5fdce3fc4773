"""`tocsin run rebuild`: records of runs that the store has lost, from the stream of facts."""

import asyncio
import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from tocsin_cli import settings
from tocsin_cli.commands.options import Data, Json
from tocsin_cli.errors import UsageError
from tocsin_cli.settings import Settings
from tocsin_cli.terminal import aligned, show
from tocsin_cli.workspace import DEFAULT, Workspace
from tocsin_contracts import RunId, RunState
from tocsin_kit.errors import PermanentError
from tocsin_kit.rebuilding import Rebuilt, rebuild

_HEAD = ("run", "state", "version", "facts", "")
_NO_APPROVAL = "made again; its approval is gone: escalate it, or begin it anew"


def rebuild_runs(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="The run's id.")] = "",
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Every run that the stream still tells.")
    ] = False,
    as_json: Json = False,
    data: Data = DEFAULT,
) -> None:
    """Make the records of runs again that the store has lost: state, version and facts.

    It asks the bus and the store themselves, and may run beside the services: a record that is as
    new is left alone. Approvals are not made again, so what waited for one is decided by nobody.
    """
    if bool(run) == every:
        raise UsageError("give the id of one run, or --all")
    known, workspace = Settings.load(), Workspace(data)
    done = asyncio.run(
        rebuild(
            settings.bus(known, workspace),
            settings.store(known, workspace),
            RunId(run) if run else None,
            prefix=known.redis_prefix,
            ttl_days=known.run_ttl_days,
        )
    )
    if run and not done:
        raise PermanentError(f"the stream does not tell of run {run!r} from its beginning")
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in done], indent=2))
    elif done:
        show(Console(), *aligned([_HEAD, *map(_row, done)]))
    else:
        show(Console(), "the stream tells of no run")


def _row(one: Rebuilt) -> tuple[str, ...]:
    waits = one.written and one.state is RunState.AWAITING_APPROVAL
    said = _NO_APPROVAL if waits else "made again" if one.written else "as new as the stream"
    return one.run_id, one.state.value, str(one.version), str(one.facts), said
