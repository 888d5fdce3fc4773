"""`tocsin-action doctor`: how the repositories are that changes are proposed to, as JSON."""

import asyncio
import os
import sys
from collections.abc import Sequence

from pydantic import RootModel

from tocsin_action.examining import examine
from tocsin_action.settings import Settings
from tocsin_gitops import config
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.credentials import tokens
from tocsin_gitops.providers import Provider
from tocsin_kit import logging
from tocsin_kit.clock import SystemClock
from tocsin_kit.errors import PermanentError


def main(arguments: Sequence[str]) -> None:
    """Print what was found; the flags are the service's own."""
    clock = SystemClock()

    def client(provider: Provider) -> ForgeClient:
        ours = tokens(provider, os.environ, clock, writing=True)
        return ForgeClient(provider, ours, clock=clock)

    try:
        settings = Settings.load(arguments)
        logging.configure_quietly(settings)
        found = asyncio.run(examine(config.load(settings.gitops_file), client))
    except PermanentError as error:
        sys.exit(f"tocsin: {error}")
    sys.stdout.write(RootModel(found).model_dump_json(indent=2) + "\n")
