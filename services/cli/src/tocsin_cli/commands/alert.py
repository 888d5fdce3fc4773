"""`tocsin alert send|test`: send an alert, or see one through to its end."""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr
from rich.console import Console
from rich.text import Text

from tocsin_cli.alerts import Alarm, harmless
from tocsin_cli.client import Gateway, Ingest
from tocsin_cli.commands.options import Data, GatewayUrl, Json
from tocsin_cli.errors import UsageError
from tocsin_cli.hints import command
from tocsin_cli.journey import Journey
from tocsin_cli.settings import Settings, gateway, ingest
from tocsin_cli.terminal import one_line, show
from tocsin_cli.workspace import DEFAULT, Workspace
from tocsin_contracts import AlertStatus
from tocsin_contracts.views import DeliveryReceipt
from tocsin_kit.clock import SystemClock

Url = Annotated[
    str | None,
    typer.Option("--url", help="Send to this ingest. Default: TOCSIN_INGEST_URL, then DIR."),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token", help="Token for it. Default: TOCSIN_INGEST_TOKEN, then the one in DIR."
    ),
]
ApiToken = Annotated[
    str | None,
    typer.Option("--api-token", help="Token for the gateway. Default: TOCSIN_API_TOKEN, then DIR."),
]


def send_alert(
    title: Annotated[str | None, typer.Argument(help="What the alert is called.")] = None,
    *,
    severity: Annotated[str, typer.Option(help="As a sender would write it.")] = "",
    summary: Annotated[str, typer.Option(help="What is wrong, in a sentence.")] = "",
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="KEY=VALUE", help="A label; repeatable."),
    ] = None,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Say that it is over; give its labels again.")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option("--file", help="Post this body as it is, in place of an alert; - is stdin."),
    ] = None,
    source: Annotated[str, typer.Option(help="Whose body the file is.")] = "alertmanager",
    as_json: Json = False,
    data: Data = DEFAULT,
    url: Url = None,
    token: Token = None,
) -> None:
    """Send one alert, or the body of any sender, and print the run it went to."""
    if (title is None) == (file is None):
        raise UsageError("give either the title of an alert, or a body with --file")
    if file is None:
        alarm = Alarm(title or "", severity, summary, labels(label or ()))
        status = AlertStatus.RESOLVED if resolved else AlertStatus.FIRING
        body = alarm.notification(status, SystemClock().now())
    else:
        body = _read(file)
    settings = _settings(url, token)
    receipt = asyncio.run(_deliver(settings, Workspace(data), source, body))
    if as_json:
        typer.echo(receipt.model_dump_json(indent=2))
    else:
        show(Console(), *told(receipt, data))


def try_path(
    *,
    seconds: Annotated[
        float, typer.Option(min=1, max=3600, help="How long it may take to the end.")
    ] = 60,
    data: Data = DEFAULT,
    url: Url = None,
    token: Token = None,
    gateway_url: GatewayUrl = None,
    api_token: ApiToken = None,
) -> None:
    """Send a harmless alert through every service, and show each step.

    It is about a workload that does not exist: whoever investigates finds no cause, nothing is
    written, and the channels hear of it as of any alert that a person has to look at.
    """
    settings = _settings(url, token, gateway_url, api_token)
    workspace = Workspace(data)

    async def run() -> None:
        to, through = ingest(settings, workspace), gateway(settings, workspace)
        console = Console()
        show(console, f"A test alert goes to {to.url} …")
        async with Ingest(to) as sender, Gateway(through) as reader:
            journey = Journey(sender, reader, console, SystemClock())
            show(console, Text(one_line(await journey.travel(harmless(), seconds))))

    asyncio.run(run())


def labels(pairs: Iterable[str]) -> dict[str, str]:
    """Read KEY=VALUE pairs."""
    for pair in pairs:
        if "=" not in pair.lstrip("="):
            raise UsageError(f"--label {pair!r}: write KEY=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


def told(receipt: DeliveryReceipt, data: Path = DEFAULT) -> list[str]:
    """Return a line for each alert that was sent."""
    if not receipt.alerts:
        return [one_line(receipt.status)]
    runs = dict.fromkeys(alert.run_id for alert in receipt.alerts if alert.run_id)
    lines = [
        f"{alert.status.value:<9} {one_line(alert.run_id) or 'no run'}" for alert in receipt.alerts
    ]
    return [
        *lines,
        *(f"  {command('run', 'watch', one_line(run_id), data=data)}" for run_id in runs),
    ]


def _read(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"--file {str(file)!r}: {error.strerror}") from None


async def _deliver(
    settings: Settings, workspace: Workspace, source: str, body: bytes
) -> DeliveryReceipt:
    async with Ingest(ingest(settings, workspace)) as sender:
        return await sender.deliver(source, body)


def _settings(
    url: str | None, token: str | None, gateway_url: str | None = None, api_token: str | None = None
) -> Settings:
    settings = Settings.load()
    given = {
        "ingest_url": url,
        "ingest_token": SecretStr(token) if token else None,
        "gateway_url": gateway_url,
        "api_token": SecretStr(api_token) if api_token else None,
    }
    return settings.model_copy(update={name: value for name, value in given.items() if value})
