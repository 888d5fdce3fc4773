"""Resolve one alert by itself: no bus, no store, and nothing is written."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence

from tocsin_cluster import connecting
from tocsin_contracts import Alert
from tocsin_gitops import config
from tocsin_gitops.repositories import repositories
from tocsin_kit import alert_file, logging
from tocsin_kit.clock import SystemClock
from tocsin_kit.errors import PermanentError
from tocsin_validation import app
from tocsin_validation.resolving import Resolver, telling
from tocsin_validation.resolving.checkouts import Checkouts
from tocsin_validation.resolving.telling import Told
from tocsin_validation.settings import Settings


def main(arguments: Sequence[str]) -> None:
    """Print where the object of `--alert FILE` comes from; other flags are the service's own."""
    parser = argparse.ArgumentParser(prog="tocsin-validation resolve", description=main.__doc__)
    parser.add_argument("--alert", required=True, help="an alert as JSON; - is stdin")
    parser.add_argument("--json", action="store_true", help="for programs")
    options, flags = parser.parse_known_args(arguments)
    try:
        settings = Settings.load(flags)
        logging.configure_quietly(settings)
        told = asyncio.run(_resolve(alert_file.read(options.alert), settings))
    except PermanentError as error:
        sys.exit(f"tocsin: {error}")
    text = told.model_dump_json(indent=2) + "\n" if options.json else telling.plain(told)
    sys.stdout.write(text)


async def _resolve(alert: Alert, settings: Settings) -> Told:
    gitops = config.load(settings.gitops_file)
    config.refuse_missing(gitops)
    source = repositories(gitops, os.environ, SystemClock())
    async with connecting.servers(settings) as servers, source:
        resolver = Resolver(gitops, source, app.clusters(settings, servers))
        return await telling.tell(resolver, Checkouts(source), alert)
