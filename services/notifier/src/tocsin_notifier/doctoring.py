"""`tocsin-notifier doctor`: how the ways to reach people are, as JSON."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from importlib import import_module

from pydantic import RootModel

from tocsin_contracts.doctor import Finding
from tocsin_kit import logging
from tocsin_kit.clock import SystemClock
from tocsin_kit.errors import PermanentError
from tocsin_notifier.settings import Settings

SLACK = "tocsin_notifier.channels.slack.examining"
"""Slack's client is loaded only for this."""


def main(arguments: Sequence[str]) -> None:
    """Print what was found; `--at` is where the notifier listens, other flags are its own."""
    parser = argparse.ArgumentParser(prog="tocsin-notifier doctor", description=main.__doc__)
    parser.add_argument("--at", default="", help="address of the notifier that runs")
    options, flags = parser.parse_known_args(arguments)
    try:
        settings = Settings.load(flags)
        logging.configure_quietly(settings)
    except PermanentError as error:
        sys.exit(f"tocsin: {error}")
    address = options.at.rstrip("/") or f"http://{settings.host}:{settings.notifier_port}"
    found: list[Finding] = asyncio.run(
        import_module(SLACK).examine(settings, address, SystemClock())
    )
    sys.stdout.write(RootModel(found).model_dump_json(indent=2) + "\n")
