"""The command tree, and how a failure becomes a message and an exit code."""

import asyncio
import os
from collections.abc import Sequence

import typer
from rich.console import Console
from typer._completion_classes import completion_init

from tocsin_cli.commands import (
    alert,
    audit,
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
    root.command("up")(up.up)
    root.command("demo")(demo.demo)
    root.command("chat")(chat.chat)
    root.command("investigate")(investigate.investigate)
    root.command("resolve")(resolve.resolve)
    root.command("replay")(replay.replay)
    root.command("eval")(evaluate.evaluate)
    root.add_typer(_bundles(), name="bundle")
    root.command("token")(token.token)
    root.command("completion")(completion.completion)
    root.add_typer(_alerts(), name="alert")
    root.add_typer(_runs(), name="run")
    root.command("report")(operate.report)
    root.command("doctor")(doctor.doctor)
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


def _alerts() -> typer.Typer:
    alerts = typer.Typer(help="Send alerts, and see whether they arrive.", no_args_is_help=True)
    alerts.command("send")(alert.send_alert)
    alerts.command("test")(alert.try_path)
    return alerts


def _bundles() -> typer.Typer:
    bundles = typer.Typer(help="What is saved about a cluster, to look at it.")
    bundles.callback()(lambda: None)
    bundles.command("collect")(bundle.collect)
    return bundles


def _runs() -> typer.Typer:
    runs = typer.Typer(help="Look at runs and decide about their plans.", no_args_is_help=True)
    runs.command("list")(run.list_runs)
    runs.command("show")(run.show_run)
    runs.command("watch")(run.watch)
    runs.command("approve")(decide.approve)
    runs.command("reject")(decide.reject)
    runs.command("cancel")(decide.cancel)
    runs.command("extend")(decide.extend)
    runs.command("rerun")(operate.rerun)
    runs.command("escalate")(operate.escalate)
    runs.command("rebuild")(rebuild.rebuild_runs)
    return runs


def _events() -> typer.Typer:
    events = typer.Typer(help="Facts as services tell them.", no_args_is_help=True)
    events.callback()(lambda: None)
    events.command("tail")(events_.tail)
    return events


def _letters() -> typer.Typer:
    letters = typer.Typer(help="Messages that services have given up.", no_args_is_help=True)
    letters.command("list")(dlq.list_letters)
    letters.command("show")(dlq.show_letter)
    letters.command("replay")(dlq.replay)
    letters.command("discard")(dlq.discard)
    return letters


def _mcp() -> typer.Typer:
    servers = typer.Typer(help="The MCP servers of this machine.", no_args_is_help=True)
    servers.command("list")(mcp.list_servers)
    servers.command("doctor")(mcp.doctor)
    servers.command("accept")(mcp.accept)
    return servers


def _tools() -> typer.Typer:
    known = typer.Typer(help="What agents can use.", no_args_is_help=True)
    known.callback()(lambda: None)
    known.command("list")(tools.list_tools)
    return known


def _audit() -> typer.Typer:
    deeds = typer.Typer(help="What people decided and changed.", no_args_is_help=True)
    deeds.command("verify")(audit.verify)
    deeds.command("export")(audit.export)
    return deeds


def _topology() -> typer.Typer:
    streams = typer.Typer(help="The streams that services rely on.", no_args_is_help=True)
    streams.callback()(lambda: None)
    streams.command("apply")(topology.apply)
    return streams


def _config() -> typer.Typer:
    settings = typer.Typer(help="What the services would start with.", no_args_is_help=True)
    settings.callback()(lambda: None)
    settings.command("explain")(config.explain_settings)
    return settings
