"""Investigate one alert by itself: no bus, no store, nothing but a report."""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from tocsin_agents.budget import Budget
from tocsin_cluster import connecting
from tocsin_contracts import Alert
from tocsin_kit import alert_file, logging
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
        found = asyncio.run(_investigate(alert_file.read(options.alert), settings))
    except PermanentError as error:
        sys.exit(f"tocsin: {error}")
    sys.stdout.write(FORMATS[options.format](found))


async def _investigate(alert: Alert, settings: Settings) -> Report:
    budget = Budget(settings.investigation_calls, settings.investigation_seconds, time.monotonic)
    async with connecting.servers(settings) as servers:
        case = await collectors.collect(alert, app.world(settings, servers), budget)
    return report(case, analyzers.analyze(case, analyzers.load()))
