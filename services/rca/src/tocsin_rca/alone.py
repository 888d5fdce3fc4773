"""Investigate one alert by itself: no bus, no store, nothing but a report."""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from tocsin_agents.budget import Budget
from tocsin_cluster import connecting
from tocsin_contracts import Alert
from tocsin_kit import logging
from tocsin_kit.errors import PermanentError
from tocsin_rca import analyzers, app, collectors
from tocsin_rca.evidence.report import Report, markdown, plain, report
from tocsin_rca.settings import Settings

FORMATS: Mapping[str, Callable[[Report], str]] = {
    "terminal": plain,
    "json": lambda told: told.model_dump_json(indent=2) + "\n",
    "markdown": markdown,
}


def main(arguments: Sequence[str]) -> None:
    """Print the report of `--alert FILE`, an alert as JSON; other flags are the service's own."""
    parser = argparse.ArgumentParser(prog="tocsin-rca investigate", description=main.__doc__)
    parser.add_argument("--alert", required=True, help="an alert as JSON; - is stdin")
    parser.add_argument("--format", choices=sorted(FORMATS), default="terminal")
    options, flags = parser.parse_known_args(arguments)
    try:
        settings = Settings.load(flags)
        logging.configure_quietly(settings)
        found = asyncio.run(_investigate(_read(options.alert), settings))
    except PermanentError as error:
        sys.exit(f"tocsin: {error}")
    sys.stdout.write(FORMATS[options.format](found))


async def _investigate(alert: Alert, settings: Settings) -> Report:
    budget = Budget(settings.investigation_calls, settings.investigation_seconds, time.monotonic)
    async with connecting.servers(settings) as servers:
        case = await collectors.collect(alert, app.world(settings, servers), budget)
    return report(case, analyzers.analyze(case, analyzers.load()))


def _read(file: str) -> Alert:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        return Alert.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        raise PermanentError(f"cannot read {file!r}: {error}") from error
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(step) for step in problem["loc"])
        raise PermanentError(f"{file!r} is no alert: {place}: {problem['msg']}") from error
