"""The command tree, and how a failure becomes a message and an exit code."""

import asyncio
import inspect
import os
import re
from collections.abc import Callable, Sequence

import typer
from rich.console import Console
from typer._completion_classes import completion_init

from tocsin_cli.commands import (
    alert,
    audit,
    backup,
    bundle,
    chat,
    completion,
    config,
    decide,
    demo,
    dlq,
    doctor,
    evaluate,
    investigate,
    mcp,
    operate,
    rebuild,
    replay,
    resolve,
    run,
    token,
    tools,
    topology,
    up,
)
from tocsin_cli.commands import events as events_
from tocsin_cli.errors import ExitCode, exit_code
from tocsin_cli.terminal import plain, show
from tocsin_kit import secret_files
from tocsin_kit.errors import TocsinError

_HELP = """Tocsin turns an alert into a reviewed GitOps pull request.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused, 4 nobody answered, 130 interrupted.
"""


def tree() -> typer.Typer:
    """Return the command `tocsin` with everything below it."""
    completion_init()
    root = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    _add(root, "up", up.up)
    _add(root, "demo", demo.demo)
    _add(root, "chat", chat.chat)
    _add(root, "investigate", investigate.investigate)
    _add(root, "resolve", resolve.resolve)
    _add(root, "replay", replay.replay)
    _add(root, "eval", evaluate.evaluate)
    root.add_typer(_bundles(), name="bundle")
    _add(root, "token", token.token)
    _add(root, "completion", completion.completion)
    root.add_typer(_alerts(), name="alert")
    root.add_typer(_runs(), name="run")
    _add(root, "report", operate.report)
    _add(root, "doctor", doctor.doctor)
    _add(root, "backup", backup.backup)
    _add(root, "restore", backup.restore)
    root.add_typer(_events(), name="events")
    root.add_typer(_letters(), name="dlq")
    root.add_typer(_topology(), name="topology")
    root.add_typer(_audit(), name="audit")
    root.add_typer(_config(), name="config")
    root.add_typer(_mcp(), name="mcp")
    root.add_typer(_tools(), name="tools")
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; expected failures show no traceback."""
    try:
        secret_files.take(os.environ)
        tree()(args=arguments, prog_name="tocsin")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else ExitCode.OK
    except TocsinError as error:
        show(Console(stderr=True), f"tocsin: {plain(str(error))}")
        return exit_code(error)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return ExitCode.INTERRUPTED
    return ExitCode.OK


def _add(group: typer.Typer, name: str, command: Callable[..., None]) -> None:
    """Add a command that its group lists with the whole first sentence about it."""
    said = inspect.getdoc(command) or ""
    group.command(name, short_help=re.split(r"\.\s", said, maxsplit=1)[0].rstrip(".") + ".")(
        command
    )


def _alerts() -> typer.Typer:
    alerts = typer.Typer(help="Send alerts, and see whether they arrive.", no_args_is_help=True)
    _add(alerts, "send", alert.send_alert)
    _add(alerts, "test", alert.try_path)
    return alerts


def _bundles() -> typer.Typer:
    bundles = typer.Typer(help="What is saved about a cluster, to look at it.")
    bundles.callback()(lambda: None)
    _add(bundles, "collect", bundle.collect)
    return bundles


def _runs() -> typer.Typer:
    runs = typer.Typer(help="Look at runs and decide about their plans.", no_args_is_help=True)
    _add(runs, "list", run.list_runs)
    _add(runs, "show", run.show_run)
    _add(runs, "watch", run.watch)
    _add(runs, "approve", decide.approve)
    _add(runs, "reject", decide.reject)
    _add(runs, "cancel", decide.cancel)
    _add(runs, "extend", decide.extend)
    _add(runs, "rerun", operate.rerun)
    _add(runs, "escalate", operate.escalate)
    _add(runs, "rebuild", rebuild.rebuild_runs)
    return runs


def _events() -> typer.Typer:
    events = typer.Typer(help="Facts as services tell them.", no_args_is_help=True)
    events.callback()(lambda: None)
    _add(events, "tail", events_.tail)
    return events


def _letters() -> typer.Typer:
    letters = typer.Typer(help="Messages that services have given up.", no_args_is_help=True)
    _add(letters, "list", dlq.list_letters)
    _add(letters, "show", dlq.show_letter)
    _add(letters, "replay", dlq.replay)
    _add(letters, "discard", dlq.discard)
    return letters


def _mcp() -> typer.Typer:
    servers = typer.Typer(help="The MCP servers of this machine.", no_args_is_help=True)
    _add(servers, "list", mcp.list_servers)
    _add(servers, "doctor", mcp.doctor)
    _add(servers, "accept", mcp.accept)
    return servers


def _tools() -> typer.Typer:
    known = typer.Typer(help="What agents can use.", no_args_is_help=True)
    known.callback()(lambda: None)
    _add(known, "list", tools.list_tools)
    return known


def _audit() -> typer.Typer:
    deeds = typer.Typer(help="What people decided and changed.", no_args_is_help=True)
    _add(deeds, "verify", audit.verify)
    _add(deeds, "export", audit.export)
    return deeds


def _topology() -> typer.Typer:
    streams = typer.Typer(help="The streams that services rely on.", no_args_is_help=True)
    streams.callback()(lambda: None)
    _add(streams, "apply", topology.apply)
    return streams


def _config() -> typer.Typer:
    settings = typer.Typer(help="What the services would start with.", no_args_is_help=True)
    settings.callback()(lambda: None)
    _add(settings, "explain", config.explain_settings)
    return settings
